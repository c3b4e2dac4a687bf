// Nothing of its own: what the tests share is compiled once, beside this file
// (tests/CMakeLists.txt).
