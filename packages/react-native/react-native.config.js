// Where the committed spec's CMake file is; autolinking would look for one that the app's own build makes.
module.exports = {
  dependency: { platforms: { android: { cmakeListsPath: "../generated/android/jni/CMakeLists.txt" } } },
};
