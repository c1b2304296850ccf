// Empty, because GNUstep declares these types.
#pragma once
