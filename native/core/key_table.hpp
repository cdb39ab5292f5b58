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
        return text_.capacity() + ends_.capacity() * sizeof(std::uint64_t) + slots_.capacity() * sizeof(std::uint32_t);
    }

    std::string_view operator[](std::size_t i) const {
        const std::uint64_t begin = i ? ends_[i - 1] : 0;
        return {text_.data() + begin, static_cast<std::size_t>(ends_[i] - begin)};
    }

    std::uint32_t find(std::string_view key) const { return slots_.empty() ? kNone : slots_[slot(key)]; }

    // The number of a key, and whether it is new.
    std::pair<std::uint32_t, bool> add(std::string_view key) {
        if (3 * (size() + 1) > 2 * slots_.size()) grow();
        std::uint32_t& place = slots_[slot(key)];
        if (place != kNone) return {place, false};
        if (size() >= kNone) throw std::length_error("there are more than 4,294,967,294 positions");
        place = static_cast<std::uint32_t>(size());
        text_.insert(text_.end(), key.begin(), key.end());
        ends_.push_back(text_.size());
        return {place, true};
    }

private:
    std::size_t slot(std::string_view key) const {
        std::size_t at = std::hash<std::string_view>{}(key) & (slots_.size() - 1);
        while (slots_[at] != kNone && (*this)[slots_[at]] != key) at = (at + 1) & (slots_.size() - 1);
        return at;
    }

    void grow() {
        slots_.assign(std::max<std::size_t>(64, 2 * slots_.size()), kNone);
        for (std::uint32_t i = 0; i < size(); ++i) slots_[slot((*this)[i])] = i;
    }

    std::vector<char> text_;
    std::vector<std::uint64_t> ends_;
    std::vector<std::uint32_t> slots_;
};

}  // namespace rookery
