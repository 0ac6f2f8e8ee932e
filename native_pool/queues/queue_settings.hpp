// How the queues of a group are told apart, and in which order their requests are served.
//
// A discipline is a combination of five rules that may also be chosen one by one: which queue a
// request goes to (rules), whether queues are kept apart, the order within one, which queue is
// served next, and which one instead where that is empty. The object design is that of Trub
// (priorities; docs/references.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "settings/setting.hpp"

namespace poolpilot {

inline constexpr std::size_t kMaxQueues = 16;
inline constexpr int kAnyClass = -1;
inline constexpr double kKickUpDeadline = -1.0;

enum class Discipline : std::uint8_t {
  kMariaDb,
  kFifo,
  kPriority,
  kWeighted,
  kFair,
  kFairLowLatency,
  kImpatient,
  kAlternating,
  kDynamic,
  kWeightedRoundRobin,
  kDeficitRoundRobin,
  kIsraeli,
};
inline constexpr std::array kDisciplineNames{"mariadb",
                                             "fifo",
                                             "priority",
                                             "weighted",
                                             "cbwfq",
                                             "cbwfq_llq",
                                             "impatient",
                                             "alternating",
                                             "dynamic",
                                             "weighted_round_robin",
                                             "deficit_round_robin",
                                             "israeli"};

// Which queue is served next. The first of these and of the next three enumerations leaves the
// choice to the discipline.
enum class Dequeue : std::uint8_t {
  kOfDiscipline,
  kPriority,            // the first that is not empty
  kWeighted,            // drawn by weight
  kFair,                // the one that has had least of its share
  kLowLatency,          // the first one before all others, which are served fairly
  kAlternating,         // the one served last
  kWeightedRoundRobin,  // in turn, as many requests as its weight is large
  kDeficitRoundRobin,   // in turn, as much time as its weight is large
  kLongestWait,         // the one whose head has waited longest
};
inline constexpr std::array kDequeueNames{"of_discipline",
                                          "priority",
                                          "weighted",
                                          "cbwfq",
                                          "cbwfq_llq",
                                          "alternating",
                                          "weighted_round_robin",
                                          "deficit_round_robin",
                                          "longest_wait"};

enum class Enqueue : std::uint8_t { kOfDiscipline, kApart, kMerged };
inline constexpr std::array kEnqueueNames{"of_discipline", "apart", "merged"};

// What a queue is kept in.
enum class Container : std::uint8_t {
  kOfDiscipline,
  kFifo,
  kLifo,
  kUrgency,  // earliest arrival + urgency first; of two alike the newer
};
inline constexpr std::array kContainerNames{"of_discipline", "fifo", "lifo", "urgency"};

enum class NextQueue : std::uint8_t { kOfDiscipline, kFirstNonEmpty, kGreatestWeight };
inline constexpr std::array kNextQueueNames{"of_discipline", "first_non_empty", "greatest_weight"};

// What a share of kFair is a share of.
enum class ShareOf : std::uint8_t { kRequests, kTime };
inline constexpr std::array kShareOfNames{"requests", "time"};

// How the class of a request is known while it queues, before it has been read.
enum class ClassKnown : std::uint8_t {
  kDeclared,  // the connection has said at its beginning which class it sends
  kLast,      // it is taken to be that of the connection's last request
  kPeeked,    // its header is looked at, which costs a system call
};
inline constexpr std::array kClassKnownNames{"declared", "last", "peeked"};

struct QueueSpec {
  double weight = 0.0;
  double deadline_ms = 0.0;
  double urgency_ms = 0.0;

  bool operator==(const QueueSpec&) const = default;

  static std::span<const SettingField<QueueSpec>> fields();
};

enum class Transaction : std::uint8_t { kEither, kInside, kOutside };
inline constexpr std::array kTransactionNames{"either", "inside", "outside"};

// Requests of a class, within a transaction or not, go to a queue. The first rule that fits holds.
struct QueueRule {
  int class_id = kAnyClass;
  Transaction transaction = Transaction::kEither;
  int queue = 0;

  bool operator==(const QueueRule&) const = default;

  static std::span<const SettingField<QueueRule>> fields();
};

struct QueueSettings {
  Discipline discipline = Discipline::kMariaDb;
  Dequeue dequeue = Dequeue::kOfDiscipline;
  Enqueue enqueue = Enqueue::kOfDiscipline;
  Container container = Container::kOfDiscipline;
  NextQueue next_queue = NextQueue::kOfDiscipline;
  ShareOf share_of = ShareOf::kRequests;
  ClassKnown class_known = ClassKnown::kDeclared;
  int default_queue = -1;
  double round_ms = 10.0;
  int queue_seed = 0;
  std::vector<QueueSpec> queues;  // in order of priority; empty: those of the discipline
  std::vector<QueueRule> rules;   // empty: those of the discipline

  bool operator==(const QueueSettings&) const = default;

  static std::span<const SettingField<QueueSettings>> fields();
};

// Settings whose every choice has been made, as the queues need them.
QueueSettings resolved(const QueueSettings& settings);

// Whether the weights of resolved settings have a meaning.
bool uses_weights(const QueueSettings& settings);

// Throws std::invalid_argument that names the setting, its value and its range.
void check(const QueueSettings& settings);

// Throws std::invalid_argument unless the queues of `settings` can be given these weights.
void check_weights(const QueueSettings& settings, std::span<const double> weights);

}  // namespace poolpilot
