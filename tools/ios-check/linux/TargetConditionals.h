// The code does not run in a simulator.
#pragma once
#define TARGET_OS_SIMULATOR 0
