// Exact values of Connect Four positions, 6 rows by 7 columns: reads lines of moves (columns 1 to 7 from the empty
// board) and prints for each the value of every column for the side to move: 1 won, 0 drawn, -1 lost, "." not legal.
//
// Alpha-beta on bitboards: a column takes seven bits, six cells and an empty one above. Moves that let the opponent win at
// once are left out, the rest go by the number of threats they make, and a table remembers bounds.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

namespace {

using Board = std::uint64_t;
constexpr int kColumns = 7, kRows = 6, kHeight = kRows + 1;
constexpr std::array<int, kColumns> kOrder = {3, 2, 4, 1, 5, 0, 6};

constexpr Board column_mask(int column) { return ((Board{1} << kRows) - 1) << (column * kHeight); }
constexpr Board foot(int column) { return Board{1} << (column * kHeight); }
constexpr Board all_feet() {
    Board feet = 0;
    for (int c = 0; c < kColumns; ++c) feet |= foot(c);
    return feet;
}
constexpr Board kFeet = all_feet(), kCells = kFeet * ((Board{1} << kRows) - 1);

// Empty cells that would complete four in a row.
Board winning_cells(Board discs, Board occupied) {
    Board found = (discs << 1) & (discs << 2) & (discs << 3);  // upwards
    for (const int step : {kHeight, kHeight - 1, kHeight + 1}) {
        Board pair = (discs << step) & (discs << 2 * step);
        found |= pair & (discs << 3 * step);
        found |= pair & (discs >> step);
        pair = (discs >> step) & (discs >> 2 * step);
        found |= pair & (discs << step);
        found |= pair & (discs >> 3 * step);
    }
    return found & (kCells ^ occupied);
}

struct Position {
    Board mine = 0, occupied = 0;  // the discs of the side to move, and all discs
    int moves = 0;

    Board landing() const { return (occupied + kFeet) & kCells; }
    void drop(Board cell) {
        mine ^= occupied;
        occupied |= cell;
        ++moves;
    }
    Board key() const { return mine + occupied + kFeet; }
};

class Solver {
public:
    Solver() : table_(kSize) {}

    // The value of a position in which the side to move cannot win at once, for it: -1, 0 or 1, between the bounds.
    int value(const Position& p, int alpha, int beta) {
        const Board theirs = winning_cells(p.mine ^ p.occupied, p.occupied);
        Board moves = p.landing();
        if (const Board forced = moves & theirs) {
            if (forced & (forced - 1)) return -1;
            moves = forced;
        }
        moves &= ~(theirs >> 1);  // never below a cell where the opponent wins
        if (!moves) return p.moves == kRows * kColumns ? 0 : -1;
        if (p.moves >= kRows * kColumns - 2) return 0;
        Entry& entry = table_[p.key() % kSize];
        if (entry.key == p.key()) {
            if (entry.low >= beta) return entry.low;
            if (entry.high <= alpha) return entry.high;
            alpha = std::max<int>(alpha, entry.low);
            beta = std::min<int>(beta, entry.high);
            if (alpha >= beta) return alpha;
        }
        std::array<std::pair<int, Board>, kColumns> list;
        int count = 0;
        for (const int column : kOrder) {
            const Board cell = moves & column_mask(column);
            if (!cell) continue;
            const int threats = std::popcount(winning_cells(p.mine | cell, p.occupied | cell));
            int at = count++;
            for (; at > 0 && list[at - 1].first < threats; --at) list[at] = list[at - 1];
            list[at] = {threats, cell};
        }
        int best = -1;
        const int lower = alpha;
        for (int i = 0; i < count && best < beta; ++i) {
            Position next = p;
            next.drop(list[i].second);
            best = std::max(best, -value(next, -beta, -std::max(alpha, best)));
        }
        Entry& mine = table_[p.key() % kSize];
        const bool known = mine.key == p.key();
        mine = {p.key(), known ? mine.low : std::int8_t{-1}, known ? mine.high : std::int8_t{1}};
        if (best > lower) mine.low = static_cast<std::int8_t>(best);
        if (best < beta) mine.high = static_cast<std::int8_t>(best);
        return best;
    }

private:
    struct Entry {
        Board key = 0;
        std::int8_t low = -1, high = 1;
    };
    static constexpr std::size_t kSize = 8'388'593;  // a prime
    std::vector<Entry> table_;
};

}  // namespace

int main() {
    Solver solver;
    std::string line;
    while (std::getline(std::cin, line)) {
        Position start;
        for (const char digit : line) start.drop(start.landing() & column_mask(digit - '1'));
        for (int column = 0; column < kColumns; ++column) {
            const Board cell = start.landing() & column_mask(column);
            if (!cell) {
                std::printf(". ");
                continue;
            }
            Position next = start;
            next.drop(cell);
            int value;
            if (winning_cells(start.mine, start.occupied) & cell) value = 1;
            else if (next.occupied == kCells) value = 0;
            else if (winning_cells(next.mine, next.occupied) & next.landing()) value = -1;
            else value = -solver.value(next, -1, 1);
            std::printf("%d ", value);
        }
        std::printf("\n");
        std::fflush(stdout);
    }
}
