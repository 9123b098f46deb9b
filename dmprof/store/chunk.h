// One chunk of events while a Reader visits it: columns as contiguous typed values, decoded when first touched.
// A Chunk and the spans it returns are valid inside the callback only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <utility>

#include "dmprof/event/describe.h"
#include "dmprof/store/tables.h"

namespace dmprof {

// The untyped side, owned by the Reader: fetches and decodes the columns of the chunk it stands on.
class ChunkData {
 public:
  virtual ~ChunkData() = default;
  virtual const ChunkInfo& info() const = 0;
  // Values of a column, converted to its type; zeros when the column is damaged (the scan then fails).
  virtual std::span<const std::uint8_t> bytes(std::size_t column) = 0;
  virtual std::span<const std::uint32_t> words(std::size_t column) = 0;
  virtual std::span<const std::uint64_t> numbers(std::size_t column) = 0;
  virtual std::span<const std::int64_t> times(std::size_t column) = 0;
  virtual std::span<const double> reals(std::size_t column) = 0;
};

template <class E>
class Chunk {
 public:
  explicit Chunk(ChunkData& data) : data_(&data) {}

  std::size_t size() const { return static_cast<std::size_t>(data_->info().rows); }
  const ChunkInfo& info() const { return data_->info(); }

  // chunk.column<&Slice::duration>() is std::span<const TimeNs>; enumerations come as their own type.
  template <auto Member>
  auto column() const {
    static_assert(std::is_same_v<typename detail::MemberOf<Member>::Event, E>, "a column of another event type");
    return typed<typename detail::MemberOf<Member>::Value>(field_index<Member>);
  }

  // Whole events: decodes every column, then rows()[i] puts one together.
  class Rows {
   public:
    E operator[](std::size_t index) const {
      E event;
      fill(event, index, std::make_index_sequence<field_count<E>>());
      return event;
    }

   private:
    friend class Chunk;
    template <std::size_t I>
    using Value = typename std::tuple_element_t<I, std::remove_cvref_t<decltype(Describe<E>::fields)>>::Value;
    template <std::size_t... I>
    static std::tuple<std::span<const Value<I>>...> types(std::index_sequence<I...>);
    template <std::size_t... I>
    void fill(E& event, std::size_t index, std::index_sequence<I...>) const {
      ((event.*std::get<I>(Describe<E>::fields).member = std::get<I>(columns_)[index]), ...);
    }
    template <std::size_t... I>
    void load(const Chunk& chunk, std::index_sequence<I...>) {
      ((std::get<I>(columns_) = chunk.template typed<Value<I>>(I)), ...);
    }
    decltype(types(std::make_index_sequence<field_count<E>>())) columns_;
  };
  Rows rows() const {
    Rows rows;
    rows.load(*this, std::make_index_sequence<field_count<E>>());
    return rows;
  }

 private:
  template <class T>
  std::span<const T> typed(std::size_t column) const {
    if constexpr (std::is_enum_v<T>) {
      static_assert(sizeof(T) == 1);
      const auto raw = data_->bytes(column);
      return {reinterpret_cast<const T*>(raw.data()), raw.size()};
    } else if constexpr (std::is_same_v<T, std::uint32_t>) {
      return data_->words(column);
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
      return data_->numbers(column);
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
      return data_->times(column);
    } else {
      static_assert(std::is_same_v<T, double>);
      return data_->reals(column);
    }
  }

  ChunkData* data_;
};

}  // namespace dmprof
