// The entry that libFuzzer calls; the test of the corpus calls it too.
#pragma once

#include <cstddef>
#include <cstdint>

// Reads the bytes as a stream of requests and as one of responses. Throws std::logic_error with the
// promise that was broken: libFuzzer takes what nobody catches for a crash, a test shows its text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
