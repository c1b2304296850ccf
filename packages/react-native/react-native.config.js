// The path of the CMake file of the committed spec. Without this entry autolinking would look for a CMake file that the
// app's own build generates.
module.exports = {
  dependency: { platforms: { android: { cmakeListsPath: "../generated/android/jni/CMakeLists.txt" } } },
};
