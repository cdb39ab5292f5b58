// Keys of positions and their numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace rookery {

// Keys of positions, numbered in the order in which they were added.
class KeyTable {
public:
    static constexpr std::uint32_t kNone = 0xffffffffu;

    std::size_t size() const { return ends_.size(); }
    std::size_t bytes() const {
        return text_.capacity() + ends_.capacity() * sizeof(std::uint64_t) + slots_.capacity() * sizeof(Slot);
    }

    std::string_view operator[](std::size_t i) const {
        const std::uint64_t begin = i ? ends_[i - 1] : 0;
        return {text_.data() + begin, static_cast<std::size_t>(ends_[i] - begin)};
    }

    std::uint32_t find(std::string_view key) const {
        return slots_.empty() ? kNone : slots_[slot(key, hash(key))].number;
    }

    // Has the memory fetched that `find` will look at first.
    void prefetch(std::string_view key) const {
        if (!slots_.empty()) __builtin_prefetch(&slots_[hash(key) & (slots_.size() - 1)]);
    }

    // The number of a key, and whether it is new.
    std::pair<std::uint32_t, bool> add(std::string_view key) {
        if (3 * (size() + 1) > 2 * slots_.size()) grow();
        const std::size_t hashed = hash(key);
        Slot& place = slots_[slot(key, hashed)];
        if (place.number != kNone) return {place.number, false};
        if (size() >= kNone) throw std::length_error("there are more than 4,294,967,294 positions");
        place = {static_cast<std::uint32_t>(size()), tag(hashed)};
        text_.insert(text_.end(), key.begin(), key.end());
        ends_.push_back(text_.size());
        return {place.number, true};
    }

private:
    // The number of a key, and a part of its hash: mostly that tells another key, without a look at it.
    struct Slot {
        std::uint32_t number = kNone, tag = 0;
    };

    static std::size_t hash(std::string_view key) { return std::hash<std::string_view>{}(key); }
    static std::uint32_t tag(std::size_t hashed) { return static_cast<std::uint32_t>(hashed >> 32); }

    std::size_t slot(std::string_view key, std::size_t hashed) const {
        std::size_t at = hashed & (slots_.size() - 1);
        while (slots_[at].number != kNone && !(slots_[at].tag == tag(hashed) && (*this)[slots_[at].number] == key)) {
            at = (at + 1) & (slots_.size() - 1);
        }
        return at;
    }

    void grow() {
        slots_.assign(std::max<std::size_t>(64, 2 * slots_.size()), {});
        for (std::uint32_t i = 0; i < size(); ++i) {
            const std::size_t hashed = hash((*this)[i]);
            slots_[slot((*this)[i], hashed)] = {i, tag(hashed)};
        }
    }

    std::vector<char> text_;
    std::vector<std::uint64_t> ends_;
    std::vector<Slot> slots_;
};

}  // namespace rookery
