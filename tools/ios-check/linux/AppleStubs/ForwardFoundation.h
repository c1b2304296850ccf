// GNUstep declares these.
#pragma once
