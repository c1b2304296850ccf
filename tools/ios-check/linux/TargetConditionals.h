// No simulator here.
#pragma once
#define TARGET_OS_SIMULATOR 0
