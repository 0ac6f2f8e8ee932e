// Which rules make up a discipline.
#pragma once

#include "queues/queue_settings.hpp"

namespace poolpilot {

struct Combination {
  Dequeue dequeue;
  Enqueue enqueue = Enqueue::kApart;
  Container container = Container::kFifo;
  NextQueue next_queue = NextQueue::kFirstNonEmpty;
};

inline Combination combination_of(Discipline discipline) {
  switch (discipline) {
    case Discipline::kFifo:
      return {Dequeue::kPriority, Enqueue::kMerged};
    case Discipline::kWeighted:
      return {Dequeue::kWeighted, Enqueue::kApart, Container::kFifo, NextQueue::kGreatestWeight};
    case Discipline::kFair:
      return {Dequeue::kFair, Enqueue::kApart, Container::kFifo, NextQueue::kGreatestWeight};
    case Discipline::kFairLowLatency:
      return {Dequeue::kLowLatency, Enqueue::kApart, Container::kFifo, NextQueue::kGreatestWeight};
    case Discipline::kAlternating:
      return {Dequeue::kAlternating};
    case Discipline::kDynamic:
      return {Dequeue::kPriority, Enqueue::kMerged, Container::kUrgency};
    case Discipline::kWeightedRoundRobin:
      return {Dequeue::kWeightedRoundRobin};
    case Discipline::kDeficitRoundRobin:
      return {Dequeue::kDeficitRoundRobin};
    case Discipline::kIsraeli:
      return {Dequeue::kLongestWait};
    default:
      return {Dequeue::kPriority};
  }
}

}  // namespace poolpilot
