// What the spectral climber goes by and nobody has had to set. What has its own place in one file
// stands there.
#pragma once

namespace poolpilot {

// ---- The wave ----

// Samples of a period, half of them low and half high. Trub's: shorter, and nothing beside the
// wave's frequency would tell the noise; longer, and every wave costs more.
inline constexpr int kWavePeriod = 4;
// Threads of the largest wave, at the reference size. Trub's: where so wide a wave shows no trend,
// the curve is flat.
inline constexpr double kLargestWave = 80.0;
// The size for which what is told in threads is meant: half the processors of Trub's machine.
inline constexpr double kReferenceSize = 36.0;
// A wave that has shown nothing doubles, as a search for a range does: it overshoots by one wave.
inline constexpr double kWaveGrowth = 2.0;
// Samples left out after a move: the first holds requests that began under the size before.
inline constexpr int kSettleSamples = 1;

// ---- What a wave must show ----

// Trub's slope, summed over the periods of a wave, that moves the size.
inline constexpr double kValuableProgress = 0.2;
// Most that one wave is believed: later ones must be able to outvote it.
inline constexpr double kTrust = 0.99;
// Degrees of freedom that the noise is averaged over: it may change, so that older ones fade.
inline constexpr double kNoiseMemory = 64.0;

// ---- The look round ----

// Two neighbours of a scan are a factor of two apart: a hill so narrow as to lie between them is
// the waves' to find.
inline constexpr double kScanRatio = 2.0;
// Standard errors below the best at which a size is left out of the rounds to come.
inline constexpr double kScanConfidence = 2.0;

// ---- The moves ----

// A slope is that of one place: nothing is known so far away that a move could go further.
inline constexpr double kMaxStepRatio = 3.0;
// Groups above the number of connections that may still be held: connections come and go.
inline constexpr double kFalseOptimumExcess = 20.0;

// ---- What makes it start again ----

// Share by which what is measured may differ from what was expected. Trub's.
inline constexpr double kDeviation = 0.2;
// Standard errors that a deviation must exceed as well: at 5, noise alone does so once in a
// million samples.
inline constexpr double kExitConfidence = 5.0;
// Samples averaged before a held size is judged, and the latest ones compared with them: as many on
// either side, since the error is that of the fewer.
inline constexpr int kReferenceSamples = 8;
inline constexpr int kExitSamples = 8;
// Length of a sample over the longest asked for that means a jump of the clock.
inline constexpr double kClockJump = 10.0;

// ---- Memory ----

// Sizes that a belief tells apart: of a pool of 4,096 all small ones, and large ones 1 % apart.
inline constexpr int kBeliefPoints = 512;

}  // namespace poolpilot
