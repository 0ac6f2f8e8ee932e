// What a table of settings does for checks, and what every table of ours must hold.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "climb/settings.hpp"
#include "live/settings.hpp"
#include "sim/settings.hpp"
#include "tests/settings/setting_number.hpp"

namespace poolpilot {
namespace {

template <typename Call>
std::string refusal_of(Call call) {
  try {
    call();
  } catch (const std::invalid_argument& refusal) {
    return refusal.what();
  }
  return "accepted";
}

template <typename Settings>
std::string range_refusal(const Settings& settings) {
  return refusal_of([&] { require_ranges(settings); });
}

// A lamp with a base, a part and a choice.
constexpr std::array kColours{"red", "green", "blue"};
enum class Colour { kRed, kGreen, kBlue };

struct Bulb {
  double hours = 1000.0;
  Colour colour = Colour::kGreen;

  static std::span<const SettingField<Bulb>> fields() {
    static constexpr SettingField<Bulb> kFields[] = {
        {&Bulb::hours, "hours", "hours", 1, kUnbounded, "How long it lasts."},
        choice_field<Bulb, &Bulb::colour>(kColours, "colour", "Colour of its light.")};
    return kFields;
  }
};

struct Device {
  bool on = false;

  static std::span<const SettingField<Device>> fields() {
    static constexpr SettingField<Device> kFields[] = {
        {&Device::on, "on", "switch", 0, 1, "Whether it is on."}};
    return kFields;
  }
};

struct Lamp : Device {
  int watts = 60;
  Bulb bulb;

  static std::span<const SettingField<Lamp>> fields() {
    static constexpr SettingField<Lamp> kFields[] = {
        {&Lamp::watts, "watts", "watts", 1, 3'600'000, "Power."}};
    return kFields;
  }
  static constexpr auto parts() { return std::tuple(BasePart<Device>(), &Lamp::bulb); }
};

TEST(SettingTable, OwnFieldsComeFirstThenThoseOfBaseAndParts) {
  std::vector<std::string> names;
  std::vector<double> values;
  const Lamp lamp;
  for_each_field(lamp, [&](const auto& part, const auto& field) {
    names.emplace_back(field.name);
    values.push_back(field.value_in(part));
  });
  EXPECT_EQ(names, (std::vector<std::string>{"watts", "on", "hours", "colour"}));
  EXPECT_EQ(values, (std::vector<double>{60.0, 0.0, 1000.0, 1.0}));
}

TEST(SettingTable, AFieldOfAPartIsChangedInPlace) {
  Lamp lamp;
  for_each_field(lamp, [](auto& part, const auto& field) { put_number(part, field, 2.0); });
  EXPECT_TRUE(lamp.on);
  EXPECT_EQ(lamp.watts, 2);
  EXPECT_EQ(lamp.bulb.hours, 2.0);
  EXPECT_EQ(lamp.bulb.colour, Colour::kBlue);
}

TEST(SettingTable, ValueOutOfRangeIsRefusedWithNameValueAndRange) {
  Lamp lamp;
  EXPECT_EQ(range_refusal(lamp), "accepted");
  lamp.watts = 0;
  EXPECT_EQ(range_refusal(lamp), "watts is 0, but must be in 1..3600000");
  lamp = {};
  lamp.bulb.hours = 0.5;
  EXPECT_EQ(range_refusal(lamp), "hours is 0.5, but must be a finite number, at least 1");
  for (const double endless : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    lamp.bulb.hours = endless;
    EXPECT_NE(range_refusal(lamp), "accepted");
  }
}

TEST(SettingTable, ChoiceIsMadeByNameAndNoOther) {
  EXPECT_EQ(index_named("colour", kColours, "blue"), 2U);
  EXPECT_EQ(refusal_of([] { index_named("colour", kColours, "pink"); }),
            "colour is 'pink', but must be one of red, green, blue");
}

TEST(SettingTable, NamesOfChoicesStandInTheOrderOfTheirValues) {
  EXPECT_EQ(index_named("throttle", kThrottleNames, "percona"),
            static_cast<std::size_t>(ThrottlePolicy::kPercona));
  EXPECT_EQ(index_named("law", sim::Contention::kLawNames, "seed"),
            static_cast<std::size_t>(sim::Contention::Law::kSeed));
  EXPECT_EQ(index_named("law", sim::Contention::kLawNames, "slices"),
            static_cast<std::size_t>(sim::Contention::Law::kSlices));
}

template <typename Settings>
class EveryTable : public testing::Test {};

using AllSettings =
    testing::Types<LivePoolSettings, sim::SimulationSettings, sim::Machine, SpectralSettings>;
TYPED_TEST_SUITE(EveryTable, AllSettings);

TYPED_TEST(EveryTable, NamesEveryFieldOnceWithADefaultInItsRange) {
  std::set<std::string> names;
  const TypeParam settings;
  for_each_field(settings, [&](const auto& part, const auto& field) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_GE(field.value_in(part), field.low) << field.name;
    EXPECT_LE(field.value_in(part), field.high) << field.name;
    EXPECT_FALSE(std::string(field.unit).empty()) << field.name;
    EXPECT_TRUE(std::string(field.effect).ends_with('.')) << field.name;
  });
  EXPECT_EQ(range_refusal(settings), "accepted");
}

TYPED_TEST(EveryTable, RefusesWhatIsBelowOrAboveARangeByName) {
  TypeParam settings;
  const auto refuses = [&](auto& part, const auto& field, double number) {
    const double before = field.value_in(part);
    put_number(part, field, number);
    const std::string start = std::string(field.name) + " is ";
    EXPECT_TRUE(range_refusal(settings).starts_with(start)) << field.name << " = " << number;
    put_number(part, field, before);
  };
  for_each_field(settings, [&](auto& part, const auto& field) {
    const std::string unit = field.unit;
    if (unit == "switch" || unit == "name") return;
    refuses(part, field, field.low - 1.0);
    if (field.high < std::numeric_limits<int>::max()) refuses(part, field, field.high + 1.0);
  });
}

TEST(PoolSettings, ASizeAboveTheCeilingIsRefusedWithTheCeiling) {
  LivePoolSettings settings;
  settings.tuple.pool_size = 129;
  EXPECT_EQ(refusal_of([&] { check(settings); }), "pool_size is 129, but must be in 1..128");
  settings.tuple.pool_size = 0;
  EXPECT_EQ(refusal_of([&] { check(settings); }), "pool_size is 0, but must be in 1..128");
  settings.max_pool_size = 0;
  EXPECT_EQ(refusal_of([&] { check(settings); }), "max_pool_size is 0, but must be in 1..4096");
  sim::SimulationSettings simulated;
  simulated.tuple.pool_size = 129;
  EXPECT_EQ(refusal_of([&] { check_pool(simulated); }), "accepted");
  EXPECT_EQ(refusal_of([] { check(PoolTuple{5000}, 16); }),
            "pool_size is 5000, but must be in 1..16");
}

TEST(PoolSettings, OnlyThreadGroupsHaveAnAdmission) {
  LivePoolSettings settings;
  settings.knobs.admission.admission_limit = 8;
  EXPECT_EQ(refusal_of([&] { check(settings); }), "accepted");
  for (const HandlerKind handler : {HandlerKind::kPerConnection, HandlerKind::kHybrid}) {
    settings.handling.handler = handler;
    EXPECT_EQ(refusal_of([&] { check(settings); }),
              "admission_limit is 8, but must be 0 unless the handler is pool");
    EXPECT_EQ(refusal_of([&] { check_knobs(settings, PoolKnobs()); }), "accepted");
  }
}

TEST(PoolSettings, ListsAreCheckedToo) {
  LivePoolSettings settings;
  settings.cpus = {0, 1024};
  EXPECT_EQ(refusal_of([&] { check(settings); }), "cpu is 1024, but must be in 0..1023");
  settings.cpus.clear();
  settings.class_names.resize(9);
  EXPECT_EQ(refusal_of([&] { check(settings); }),
            "number of class names is 9, but must be in 0..8");
}

TEST(PoolSettings, ClassesDifferInTheirNames) {
  LivePoolSettings settings;
  settings.class_names = {"read", "write", "read"};
  EXPECT_EQ(refusal_of([&] { check(settings); }),
            "Two classes are named 'read'; names must differ.");
  settings.class_names.pop_back();
  EXPECT_EQ(refusal_of([&] { check(settings); }), "accepted");
}

}  // namespace
}  // namespace poolpilot
