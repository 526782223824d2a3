// Columns that tell where rows end, so that lanes can walk over several rows without knowing where they begin.
#pragma once
#include "few.cuh"

// The last nonzero of its row; no nonzero at all (an empty row has one such entry, and blocks are filled up with them).
constexpr u32 LAST = 1u << 31, NOTHING = 1u << 30, COLUMN = NOTHING - 1;
