// A long array of bytes in a file, compressed so that single bytes are read without unpacking much.
//
// The bytes are written as runs: a value in a prefix code (Huffman) that depends on the value before, and a length in
// one that depends on the value. Every line of 64 bytes starts anew, so a byte is found by reading half a line of runs.
// 32 lines make a block, which knows where its lines start and has a checksum, looked at when the block is first used.
// The file is mapped into memory: processes share it, and what nobody asks for is never read.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <queue>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/parallel.hpp"

namespace rookery::checkers {

static_assert(std::endian::native == std::endian::little, "numbers in the files are little-endian");

using Bytes = std::vector<std::uint8_t>;

// The checksum of zlib and PNG.
inline std::uint32_t crc32(std::span<const std::uint8_t> bytes) {
    static constexpr auto kTable = [] {
        std::array<std::uint32_t, 256> t{};
        for (std::uint32_t i = 0; i < 256; ++i) {
            t[i] = i;
            for (int bit = 0; bit < 8; ++bit) t[i] = t[i] >> 1 ^ (t[i] & 1 ? 0xedb88320u : 0);
        }
        return t;
    }();
    std::uint32_t crc = ~0u;
    for (const std::uint8_t byte : bytes) crc = kTable[(crc ^ byte) & 255] ^ crc >> 8;
    return ~crc;
}

// A file mapped for reading.
class MappedFile {
public:
    explicit MappedFile(const std::string& path) {
        const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat status{};
        if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0) {
            size_ = static_cast<std::size_t>(status.st_size);
            void* memory = mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0);
            data_ = memory == MAP_FAILED ? nullptr : static_cast<const std::uint8_t*>(memory);
        }
        if (file >= 0) close(file);
        if (!data_) throw std::invalid_argument("it cannot be read");
    }
    MappedFile(const MappedFile&) = delete;
    ~MappedFile() { munmap(const_cast<std::uint8_t*>(data_), size_); }

    std::span<const std::uint8_t> bytes() const { return {data_, size_}; }

private:
    const std::uint8_t* data_ = nullptr;
    std::size_t size_ = 0;
};

// A canonical prefix code of at most 256 symbols.
class PrefixCode {
public:
    static constexpr int kLongest = 15;

    // The lengths of Huffman's code by symbol; 0 for symbols that do not occur.
    static Bytes lengths(std::vector<std::uint64_t> counts) {
        Bytes found(counts.size());
        for (bool fits = false; !fits;) {
            using Node = std::pair<std::uint64_t, int>;
            std::priority_queue<Node, std::vector<Node>, std::greater<>> queue;
            std::vector<int> parents(counts.size(), -1);
            for (std::size_t i = 0; i < counts.size(); ++i) {
                if (counts[i]) queue.emplace(counts[i], static_cast<int>(i));
            }
            if (queue.size() == 1) found[queue.top().second] = 1;
            while (queue.size() > 1) {
                const Node a = queue.top();
                queue.pop();
                const Node b = queue.top();
                queue.pop();
                const int parent = static_cast<int>(parents.size());
                parents[a.second] = parents[b.second] = parent;
                parents.push_back(-1);
                queue.emplace(a.first + b.first, parent);
            }
            fits = true;
            for (std::size_t i = 0; i < counts.size(); ++i) {
                int length = 0;
                for (int node = parents[i]; node >= 0; node = parents[node]) ++length;
                if (parents[i] >= 0) found[i] = static_cast<std::uint8_t>(length);
                fits &= length <= kLongest;
            }
            // Rare symbols with longer codes: flatter counts give shorter ones.
            for (auto& count : counts) count = count ? count / 2 + 1 : 0;
        }
        return found;
    }

    explicit PrefixCode(std::span<const std::uint8_t> lengths) : lengths_(lengths.begin(), lengths.end()) {
        std::uint32_t code = 0;
        for (int length = 1; length <= kLongest; ++length) {
            first_[length] = static_cast<std::int32_t>(symbols_.size()) - static_cast<std::int32_t>(code);
            for (std::size_t i = 0; i < lengths_.size(); ++i) {
                if (lengths_[i] != length) continue;
                symbols_.push_back(static_cast<std::uint8_t>(i));
                if (length <= kQuick) {
                    const std::size_t begin = std::size_t(code) << (kQuick - length);
                    const std::size_t end = std::min(quick_.size(), begin + (std::size_t(1) << (kQuick - length)));
                    for (std::size_t j = begin; j < end; ++j)
                        quick_[j] = {static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(length)};
                }
                if (++code > std::uint32_t(1) << length) throw std::invalid_argument("there is no such code");
            }
            limit_[length] = code;
            code *= 2;
        }
        codes_.resize(lengths_.size());
        for (int i = 0; const std::uint8_t symbol : symbols_) {
            codes_[symbol] = static_cast<std::uint32_t>(i++ - first_[lengths_[symbol]]);
        }
    }

    struct Symbol {
        std::uint8_t symbol = 0, length = 0;
    };

    // The symbol that the highest bits of a word begin with; symbol 0 of no length if there is none.
    Symbol read(std::uint64_t word) const {
        const Symbol quick = quick_[word >> (64 - kQuick)];
        if (quick.length) return quick;
        for (int length = kQuick + 1; length <= kLongest; ++length) {
            const auto code = static_cast<std::uint32_t>(word >> (64 - length));
            if (code < limit_[length])
                return {symbols_[first_[length] + static_cast<std::int32_t>(code)], static_cast<std::uint8_t>(length)};
        }
        return {};
    }

    std::uint32_t code(std::size_t symbol) const { return codes_[symbol]; }
    int length(std::size_t symbol) const { return lengths_[symbol]; }

private:
    static constexpr int kQuick = 8;

    Bytes lengths_, symbols_;  // lengths by symbol; symbols by code
    std::vector<std::uint32_t> codes_;
    std::array<Symbol, 1 << kQuick> quick_{};  // by the next bits, for short codes
    std::array<std::uint32_t, kLongest + 1> limit_{};  // by length, the first code that is longer
    std::array<std::int32_t, kLongest + 1> first_{};  // by length, what to add to a code for the place of its symbol
};

class Packed {
public:
    static constexpr std::size_t kLine = 64, kLines = 32, kBlock = kLine * kLines;

    // A file of `size` bytes after `extra` that are the caller's.
    static Bytes pack(std::span<const std::uint8_t> extra, std::span<const std::uint8_t> bytes, int threads) {
        const std::size_t blocks = (bytes.size() + kBlock - 1) / kBlock;
        constexpr std::size_t kChunk = 256;
        const auto chunks = static_cast<std::int64_t>((blocks + kChunk - 1) / kChunk);
        const auto each_block = [&](std::int64_t chunk, auto&& visit) {
            const std::size_t begin = static_cast<std::size_t>(chunk) * kChunk;
            for (std::size_t b = begin; b < std::min(blocks, begin + kChunk); ++b)
                visit(bytes.subspan(b * kBlock, std::min(kBlock, bytes.size() - b * kBlock)));
        };

        std::vector<std::vector<std::uint64_t>> values(257, std::vector<std::uint64_t>(256)), lengths(256);
        for (auto& row : lengths) row.resize(kLine);
        std::mutex mutex;
        parallel_blocks(chunks, threads, [&](std::int64_t chunk) {
            auto own_values = std::vector(257, std::vector<std::uint32_t>(256));
            auto own_lengths = std::vector(256, std::vector<std::uint32_t>(kLine));
            each_block(chunk, [&](auto block) {
                for_each_run(block, [&](std::size_t, int before, int value, std::size_t length) {
                    ++own_values[before][value];
                    ++own_lengths[value][length];
                });
            });
            std::lock_guard lock(mutex);
            for (std::size_t i = 0; i < 257; ++i) {
                for (std::size_t j = 0; j < 256; ++j) values[i][j] += own_values[i][j];
            }
            for (std::size_t i = 0; i < 256; ++i) {
                for (std::size_t j = 0; j < kLine; ++j) lengths[i][j] += own_lengths[i][j];
            }
        });

        Bytes alphabet;
        for (int value = 0; value < 256; ++value) {
            if (std::any_of(lengths[value].begin(), lengths[value].end(), [](auto n) { return n > 0; }))
                alphabet.push_back(static_cast<std::uint8_t>(value));
        }
        Bytes head;  // the alphabet and the lengths of all codes
        put(head, static_cast<std::uint16_t>(alphabet.size()));
        head.insert(head.end(), alphabet.begin(), alphabet.end());
        const auto add_code = [&](const std::vector<std::uint64_t>& counts) {
            const Bytes found = PrefixCode::lengths(counts);
            head.insert(head.end(), found.begin(), found.end());
        };
        const auto of_alphabet = [&](const std::vector<std::uint64_t>& row) {
            std::vector<std::uint64_t> counts;
            for (const std::uint8_t value : alphabet) counts.push_back(row[value]);
            return counts;
        };
        add_code(of_alphabet(values[kNone]));
        for (const std::uint8_t value : alphabet) add_code(of_alphabet(values[value]));
        for (const std::uint8_t value : alphabet) add_code(lengths[value]);

        const Codes codes(head);
        std::vector<Bytes> parts(static_cast<std::size_t>(chunks));
        std::vector<std::uint32_t> sizes(blocks);
        parallel_blocks(chunks, threads, [&](std::int64_t chunk) {
            std::size_t number = static_cast<std::size_t>(chunk) * kChunk;
            each_block(chunk, [&](auto block) {
                const Bytes packed = codes.write(block);
                sizes[number++] = static_cast<std::uint32_t>(packed.size());
                parts[chunk].insert(parts[chunk].end(), packed.begin(), packed.end());
            });
        });

        std::uint64_t begin = 0;
        for (const std::uint32_t size : sizes) {
            put(head, static_cast<std::uint32_t>(begin));
            begin += size;
        }
        put(head, static_cast<std::uint32_t>(begin));
        if (begin >= std::uint64_t(1) << 32) throw std::runtime_error("an array does not fit into 4 GB");
        Bytes file;
        for (const char c : kMagic) file.push_back(static_cast<std::uint8_t>(c));
        put(file, static_cast<std::uint64_t>(bytes.size()));
        put(file, static_cast<std::uint64_t>(extra.size()));
        put(file, static_cast<std::uint64_t>(head.size()));
        put(file, begin);
        put(file, crc32(head));
        file.insert(file.end(), extra.begin(), extra.end());
        put(file, crc32(file));
        file.insert(file.end(), head.begin(), head.end());
        for (const Bytes& part : parts) file.insert(file.end(), part.begin(), part.end());
        file.resize(file.size() + kSlack);
        return file;
    }

    // Opens a file, of which little is read; std::invalid_argument says what is wrong with it.
    explicit Packed(const std::string& path) : path_(path), file_(path) {
        const auto all = file_.bytes();
        const auto number = [&](std::size_t i) { return get<std::uint64_t>(all.data() + sizeof kMagic + 8 * i); };
        if (all.size() < kHead || std::memcmp(all.data(), kMagic, sizeof kMagic) != 0)
            throw std::invalid_argument("it holds something else");
        const std::uint64_t extra = number(1), head = number(2), data = number(3);
        const std::size_t begin = kHead + extra + 4;
        if (extra > all.size() || head > all.size() || data > all.size() || begin + head + data + kSlack != all.size())
            throw std::invalid_argument("its size is wrong");
        if (crc32(all.first(kHead + extra)) != get<std::uint32_t>(all.data() + kHead + extra))
            throw std::invalid_argument("its checksum is wrong");
        size_ = number(0);
        extra_ = all.subspan(kHead, extra);
        head_ = all.subspan(begin, head);
        data_ = all.subspan(begin + head, data);
        checked_ = std::vector<std::atomic<std::uint64_t>>((blocks() + 63) / 64);
    }

    std::size_t size() const { return size_; }
    std::size_t blocks() const { return (size_ + kBlock - 1) / kBlock; }
    std::span<const std::uint8_t> extra() const { return extra_; }

    // Byte i, which must be less than `size`. std::invalid_argument if the file is damaged there.
    std::uint8_t operator[](std::size_t i) const {
        const std::uint8_t* block = begin_of(i / kBlock);
        std::size_t left = i % kLine;
        std::uint8_t found = 0;
        codes_->for_each_run(block, i % kBlock / kLine, [&](std::uint8_t value, std::size_t length) {
            found = value;
            if (left < length) return false;
            left -= length;
            return true;
        });
        return found;
    }

    // Writes all bytes of a block, kBlock or those that are left, to `out`.
    void unpack(std::size_t block, std::uint8_t* out) const {
        const std::uint8_t* const begin = begin_of(block);
        std::size_t left = std::min(kBlock, size_ - block * kBlock);
        for (std::size_t line = 0; left > 0; ++line) {
            const std::size_t size = std::min(kLine, left);
            std::size_t room = size;
            codes_->for_each_run(begin, line, [&](std::uint8_t value, std::size_t length) {
                length = std::min(length, room);
                out = std::fill_n(out, length, value);
                return (room -= length) > 0;
            });
            left -= size;
        }
    }

private:
    static constexpr char kMagic[8] = {'r', 'o', 'o', 'k', 'p', 'a', 'k', '1'};
    static constexpr std::size_t kHead = sizeof kMagic + 4 * 8 + 4;
    static constexpr int kNone = 256;  // the value before the first one of a line
    static constexpr std::size_t kStarts =
        4 + 2 * kLines;  // of a block: its checksum and where its lines start, in bits
    // No line can be read as far beyond the end of its block, whatever the file holds.
    static constexpr std::size_t kSlack = kStarts + (1 << 16) / 8 + kLine * 2 * PrefixCode::kLongest / 8 + 16;

    template <class T>
    static void put(Bytes& bytes, T number) {
        for (std::size_t i = 0; i < sizeof(T); ++i) bytes.push_back(static_cast<std::uint8_t>(number >> 8 * i));
    }
    template <class T>
    static T get(const std::uint8_t* bytes) {
        T number;
        std::memcpy(&number, bytes, sizeof number);
        return number;
    }

    // Calls visit(line, value before, value, length) for the runs of a block; length 0 reaches to the end of a line.
    template <class Visit>
    static void for_each_run(std::span<const std::uint8_t> block, Visit&& visit) {
        for (std::size_t line = 0; line * kLine < block.size(); ++line) {
            const auto bytes = block.subspan(line * kLine, std::min(kLine, block.size() - line * kLine));
            int before = kNone;
            for (std::size_t i = 0, end; i < bytes.size(); i = end) {
                for (end = i + 1; end < bytes.size() && bytes[end] == bytes[i];) ++end;
                visit(line, before, int(bytes[i]), end == bytes.size() ? 0 : end - i);
                before = bytes[i];
            }
        }
    }

    // The codes of a file, from the beginning of its head.
    struct Codes {
        explicit Codes(std::span<const std::uint8_t> head) {
            const auto take = [&head](std::size_t count) {
                if (head.size() < count) throw std::invalid_argument("the codes are incomplete");
                const auto taken = head.first(count);
                head = head.subspan(count);
                for (const std::uint8_t length : taken) {
                    if (length > PrefixCode::kLongest) throw std::invalid_argument("a code is too long");
                }
                return taken;
            };
            if (head.size() < 2) throw std::invalid_argument("the codes are incomplete");
            const std::size_t n = get<std::uint16_t>(head.data());
            if (n < 1 || n > 256 || head.size() < 2 + n) throw std::invalid_argument("the codes are incomplete");
            alphabet.assign(head.begin() + 2, head.begin() + 2 + static_cast<std::ptrdiff_t>(n));
            head = head.subspan(2 + n);
            for (std::size_t i = 0; i <= n; ++i) values.emplace_back(take(n));
            for (std::size_t i = 0; i < n; ++i) lengths.emplace_back(take(kLine));
            rest = head;
        }

        // Calls visit(value, length) for the runs of a line until it returns false or the line ends.
        template <class Visit>
        void for_each_run(const std::uint8_t* block, std::size_t line, Visit&& visit) const {
            std::size_t bit = get<std::uint16_t>(block + 4 + 2 * line);
            const std::uint8_t* const bits = block + kStarts;
            const PrefixCode* code = &values[0];
            for (std::size_t runs = 0; runs < kLine; ++runs) {
                std::uint64_t word = __builtin_bswap64(get<std::uint64_t>(bits + bit / 8)) << bit % 8;
                const auto value = code->read(word);
                const auto length = lengths[value.symbol].read(word << value.length);
                bit += value.length + length.length;
                if (!visit(alphabet[value.symbol], length.symbol ? length.symbol : kLine) || !length.symbol) return;
                code = &values[1 + value.symbol];
            }
        }

        Bytes write(std::span<const std::uint8_t> block) const {
            Bytes packed(kStarts);
            std::array<int, 257> symbols{};  // the number of a value's code, by value; 0 for kNone
            for (std::size_t i = 0; i < alphabet.size(); ++i) symbols[alphabet[i]] = static_cast<int>(i) + 1;
            std::size_t bit = 0, last = kLines;
            const auto write = [&](const PrefixCode& code, std::size_t symbol) {
                for (int i = code.length(symbol); i-- > 0; ++bit) {
                    if (bit % 8 == 0) packed.push_back(0);
                    packed.back() |= static_cast<std::uint8_t>((code.code(symbol) >> i & 1) << (7 - bit % 8));
                }
            };
            Packed::for_each_run(block, [&](std::size_t line, int before, int value, std::size_t length) {
                if (line != last) {
                    packed[4 + 2 * line] = static_cast<std::uint8_t>(bit);
                    packed[5 + 2 * line] = static_cast<std::uint8_t>(bit >> 8);
                    last = line;
                }
                const std::size_t symbol = symbols[value] - 1;
                write(values[symbols[before]], symbol);
                write(lengths[symbol], length);
            });
            const std::uint32_t sum = crc32(std::span(packed).subspan(4));
            std::memcpy(packed.data(), &sum, sizeof sum);
            return packed;
        }

        Bytes alphabet;
        std::vector<PrefixCode> values, lengths;  // by the number of the value before, 0 for none; by that of the value
        std::span<const std::uint8_t> rest;
    };

    [[noreturn]] void refuse() const {
        throw std::invalid_argument(path_ + " is damaged: remove it, and it will be made again");
    }

    const std::uint8_t* begin_of(std::size_t block) const {
        std::call_once(opened_, [&] {
            if (crc32(head_) != get<std::uint32_t>(file_.bytes().data() + kHead - 4)) refuse();
            std::unique_ptr<const Codes> codes;
            try {
                codes = std::make_unique<const Codes>(head_);
            } catch (const std::invalid_argument&) {
                refuse();
            }
            if (codes->rest.size() != 4 * (blocks() + 1)) refuse();
            for (std::size_t i = 0; i < blocks(); ++i) {
                const auto at = [&](std::size_t b) { return get<std::uint32_t>(codes->rest.data() + 4 * b); };
                if (at(i + 1) > data_.size() || at(i) + kStarts > at(i + 1)) refuse();
            }
            codes_ = std::move(codes);
        });
        const std::uint8_t* const index = codes_->rest.data() + 4 * block;
        const std::size_t begin = get<std::uint32_t>(index);
        const std::uint64_t bit = std::uint64_t(1) << block % 64;
        if (!(checked_[block / 64].load(std::memory_order_relaxed) & bit)) {
            const auto bytes = data_.subspan(begin, get<std::uint32_t>(index + 4) - begin);
            if (crc32(bytes.subspan(4)) != get<std::uint32_t>(bytes.data())) refuse();
            checked_[block / 64].fetch_or(bit, std::memory_order_relaxed);
        }
        return data_.data() + begin;
    }

    std::string path_;
    MappedFile file_;
    std::size_t size_ = 0;
    std::span<const std::uint8_t> extra_, head_, data_;
    mutable std::once_flag opened_;
    mutable std::unique_ptr<const Codes> codes_;
    mutable std::vector<std::atomic<std::uint64_t>> checked_;  // a bit per block whose checksum is right
};

}  // namespace rookery::checkers
