// Full rows and columns of a 1010! board that fits into one word.
#pragma once

namespace rookery::tenten {

template <class Word>
struct Lines {
    int rows, columns;
    Word row, first_column;  // the cells of the first row and of the first column

    static Lines of(int rows, int columns) {
        Lines lines = {rows, columns, static_cast<Word>((Word(1) << columns) - 1), 0};
        for (int r = 0; r < rows; ++r) lines.first_column |= Word(1) << (r * columns);
        return lines;
    }

    // A bit in the first column for every full row.
    Word full_rows(Word board) const {
        Word full = board & first_column;
        for (int column = 1; column < columns; ++column) full &= board >> column;
        return full;
    }

    // A bit in the first row for every full column.
    Word full_columns(Word board) const {
        Word full = board & row;
        for (int r = 1; r < rows; ++r) full &= board >> (r * columns);
        return full;
    }

    bool has_line(Word board) const { return (full_rows(board) | full_columns(board)) != 0; }

    Word clear(Word board) const { return board & ~(full_rows(board) * row | full_columns(board) * first_column); }
};

}  // namespace rookery::tenten
