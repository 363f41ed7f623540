/**
 * QR codes (ISO/IEC 18004): bytes, error correction level M, versions 1 to 20, which hold 666 bytes.
 *
 * The code of a secret is made in the page, which has the secret already, so that no server, address or cache gets it.
 */

/** `CORRECTION` has the number of error correction codewords of a block, `BLOCKS` the number of blocks, for each
 * version from 1 on. */
const CORRECTION = /** @type {any} */ ([10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26]);
const BLOCKS = /** @type {any} */ ([1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16]);
/** The bits of level M in the format information are 00. */
const LEVEL = 0;
const MASKS = [
  (/** @type {number} */ x, /** @type {number} */ y) => (x + y) % 2 === 0,
  (/** @type {number} */ _x, /** @type {number} */ y) => y % 2 === 0,
  (/** @type {number} */ x) => x % 3 === 0,
  (/** @type {number} */ x, /** @type {number} */ y) => (x + y) % 3 === 0,
  (/** @type {number} */ x, /** @type {number} */ y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (/** @type {number} */ x, /** @type {number} */ y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (/** @type {number} */ x, /** @type {number} */ y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (/** @type {number} */ x, /** @type {number} */ y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];
/** The sequences of modules that look like a finder pattern beside four light modules, in both directions; 1 is
 * dark. */
const FINDERS = ["10111010000", "00001011101"];

/**
 * Makes the code of a text.
 *
 * @param {string} text At most 666 bytes of UTF-8.
 * @returns {boolean[][]} The rows of modules; true is dark. The quiet zone, four light modules on each side, is not
 *   included.
 * @throws {RangeError} The text is too long.
 */
export function qrCode(text) {
  const bytes = new TextEncoder().encode(text);
  const version = BLOCKS.findIndex((/** @type {number} */ _, /** @type {number} */ index) => lengthBits(index + 1) + 4 + bytes.length * 8 <= dataCodewords(index + 1) * 8) + 1;
  if (version === 0) throw new RangeError("The text is too long for a code.");
  const grid = new Grid(version);
  grid.place(interleaved(version, codewords(version, bytes)));
  return grid.masked();
}

/** @param {number} version */
function lengthBits(version) {
  return version < 10 ? 8 : 16;
}

/** Returns the number of codewords that a version has room for: those of data and those of error correction.
 * @param {number} version */
function allCodewords(version) {
  const alignments = version < 2 ? 0 : Math.floor(version / 7) + 2;
  let modules = (16 * version + 128) * version + 64;
  if (version >= 2) modules -= (25 * alignments - 10) * alignments - 55;
  if (version >= 7) modules -= 36;
  return Math.floor(modules / 8);
}

/** @param {number} version */
function dataCodewords(version) {
  return allCodewords(version) - CORRECTION[version - 1] * BLOCKS[version - 1];
}

/** Returns the codewords of the data: the mode, the length, the bytes, and padding for the rest.
 * @param {number} version @param {Uint8Array} bytes */
function codewords(version, bytes) {
  /** @type {number[]} */
  const bits = [];
  const add = (/** @type {number} */ value, /** @type {number} */ count) => {
    for (let bit = count - 1; bit >= 0; bit -= 1) bits.push((value >>> bit) & 1);
  };
  add(4, 4);
  add(bytes.length, lengthBits(version));
  for (const byte of bytes) add(byte, 8);
  const room = dataCodewords(version);
  add(0, Math.min(4, room * 8 - bits.length));
  add(0, (8 - (bits.length % 8)) % 8);
  const found = Array.from({ length: bits.length / 8 }, (_, index) => parseInt(bits.slice(index * 8, index * 8 + 8).join(""), 2));
  for (let filler = 0xec; found.length < room; filler ^= 0xec ^ 0x11) found.push(filler);
  return found;
}

/** Returns the product of two elements of the finite field with 256 elements and the polynomial 0x11d.
 * @param {number} a @param {number} b */
function product(a, b) {
  let found = 0;
  for (let bit = 7; bit >= 0; bit -= 1) found = (found << 1) ^ ((found >>> 7) * 0x11d) ^ (((b >>> bit) & 1) * a);
  return found;
}

/** Returns the Reed-Solomon error correction codewords of a block.
 * @param {any} data @param {number} degree @returns {number[]} */
function correction(data, degree) {
  const divisor = /** @type {any} */ (Array(degree).fill(0));
  divisor[degree - 1] = 1;
  for (let index = 0, root = 1; index < degree; index += 1, root = product(root, 2)) {
    for (let place = 0; place < degree; place += 1) divisor[place] = product(divisor[place], root) ^ (divisor[place + 1] ?? 0);
  }
  const rest = /** @type {any} */ (Array(degree).fill(0));
  for (const byte of data) {
    const factor = byte ^ rest.shift();
    rest.push(0);
    for (let place = 0; place < degree; place += 1) rest[place] ^= product(divisor[place], factor);
  }
  return rest;
}

/** Returns all codewords in the order in which they are placed in the code. The last blocks may have one data codeword
 * more.
 * @param {number} version @param {number[]} data @returns {any} */
function interleaved(version, data) {
  const [count, degree] = [BLOCKS[version - 1], CORRECTION[version - 1]];
  const short = Math.floor(data.length / count);
  /** @type {number[][]} */
  const blocks = [];
  for (let index = 0, at = 0; index < count; index += 1) {
    const end = at + short + (index >= count - (data.length % count) ? 1 : 0);
    blocks.push(data.slice(at, end));
    at = end;
  }
  const corrections = blocks.map((block) => correction(block, degree));
  const columns = (/** @type {number[][]} */ rows, /** @type {number} */ length) =>
    Array.from({ length }, (_, column) => rows.map((row) => row[column])).flat().filter((one) => one !== undefined);
  return [...columns(blocks, short + 1), ...columns(corrections, degree)];
}

/** The modules of a code that is being made. */
class Grid {
  /** @param {number} version */
  constructor(version) {
    this.version = version;
    this.size = version * 4 + 17;
    /** @type {any} */
    this.rows = Array.from({ length: this.size }, () => Array(this.size).fill(false));
    /** Whether each module belongs to a pattern and so carries no data, by row and column.
     * @type {any} */
    this.fixed = Array.from({ length: this.size }, () => Array(this.size).fill(false));
    this.drawPatterns();
  }

  /** @param {number} x @param {number} y @param {boolean} isDark */
  fix(x, y, isDark) {
    this.rows[y][x] = isDark;
    this.fixed[y][x] = true;
  }

  drawPatterns() {
    for (let index = 0; index < this.size; index += 1) {
      this.fix(6, index, index % 2 === 0);
      this.fix(index, 6, index % 2 === 0);
    }
    const last = this.size - 4;
    for (const at of [{ x: 3, y: 3 }, { x: last, y: 3 }, { x: 3, y: last }]) this.drawSquares(at.x, at.y, 4, (far) => far !== 2 && far !== 4);
    const places = this.alignments();
    const end = places.length - 1;
    places.forEach((x, column) => places.forEach((y, row) => {
      const isFinder = (column === 0 && row === 0) || (column === 0 && row === end) || (column === end && row === 0);
      if (!isFinder) this.drawSquares(x, y, 2, (far) => far !== 1);
    }));
    this.drawFormat(0);
    this.drawVersion();
  }

  /** Draws concentric squares around a module. `isDark` says whether the modules at a distance from the center are
   * dark.
   * @param {number} x @param {number} y @param {number} reach @param {(far: number) => boolean} isDark */
  drawSquares(x, y, reach, isDark) {
    for (let dy = -reach; dy <= reach; dy += 1) {
      for (let dx = -reach; dx <= reach; dx += 1) {
        const isInside = x + dx >= 0 && x + dx < this.size && y + dy >= 0 && y + dy < this.size;
        if (isInside) this.fix(x + dx, y + dy, isDark(Math.max(Math.abs(dx), Math.abs(dy))));
      }
    }
  }

  /** Returns the rows in which alignment patterns have their centers. The columns have the same numbers. */
  alignments() {
    if (this.version === 1) return [];
    const count = Math.floor(this.version / 7) + 2;
    const step = Math.ceil((this.version * 4 + 4) / (count * 2 - 2)) * 2;
    return [6, ...Array.from({ length: count - 1 }, (_, index) => this.size - 7 - (count - 2 - index) * step)];
  }

  /** Draws the format information twice: the error correction level and the mask, with the check bits of a BCH code.
   * @param {number} mask */
  drawFormat(mask) {
    const data = (LEVEL << 3) | mask;
    const bits = ((data << 10) | remainder(data, 10, 0x537)) ^ 0x5412;
    const bit = (/** @type {number} */ index) => ((bits >>> index) & 1) === 1;
    for (let index = 0; index < 15; index += 1) {
      if (index < 8) this.fix(8, index < 6 ? index : index + 1, bit(index));
      else this.fix(index === 8 ? 7 : 14 - index, 8, bit(index));
      if (index < 8) this.fix(this.size - 1 - index, 8, bit(index));
      else this.fix(8, this.size - 15 + index, bit(index));
    }
    this.fix(8, this.size - 8, true);
  }

  drawVersion() {
    if (this.version < 7) return;
    const bits = (this.version << 12) | remainder(this.version, 12, 0x1f25);
    for (let index = 0; index < 18; index += 1) {
      const far = this.size - 11 + (index % 3);
      const near = Math.floor(index / 3);
      this.fix(far, near, ((bits >>> index) & 1) === 1);
      this.fix(near, far, ((bits >>> index) & 1) === 1);
    }
  }

  /** Places the codewords in pairs of columns, alternately upwards and downwards, from the lower right corner on.
   * @param {any} all */
  place(all) {
    let index = 0;
    for (let right = this.size - 1; right >= 1; right -= 2) {
      // The column of the timing pattern belongs to no pair.
      if (right === 6) right = 5;
      for (let step = 0; step < this.size; step += 1) {
        const isUpward = ((right + 1) & 2) === 0;
        const y = isUpward ? this.size - 1 - step : step;
        for (const x of [right, right - 1]) {
          if (this.fixed[y][x] || index >= all.length * 8) continue;
          this.rows[y][x] = ((all[index >>> 3] >>> (7 - (index & 7))) & 1) === 1;
          index += 1;
        }
      }
    }
  }

  /** Returns the rows with the mask whose `penalty` is lowest. */
  masked() {
    const found = MASKS.map((isFlipped, mask) => {
      this.drawFormat(mask);
      const rows = this.rows.map((/** @type {boolean[]} */ row, /** @type {number} */ y) => row.map((isDark, x) => (this.fixed[y][x] ? isDark : isDark !== isFlipped(x, y))));
      return { rows, penalty: penalty(rows) };
    });
    return found.reduce((best, one) => (one.penalty < best.penalty ? one : best)).rows;
  }
}

/** Returns the check bits of a BCH code.
 * @param {number} data @param {number} degree @param {number} polynomial */
function remainder(data, degree, polynomial) {
  let rest = data;
  for (let index = 0; index < degree; index += 1) rest = (rest << 1) ^ ((rest >>> (degree - 1)) * polynomial);
  return rest;
}

/** Returns the penalty of a code, which is higher the more its features can mislead a scanner: long runs, blocks,
 * sequences that look like a finder pattern, and many more modules of one colour than of the other.
 * @param {any} rows */
function penalty(rows) {
  const size = rows.length;
  let sum = 0;
  const columns = Array.from({ length: size }, (_, x) => rows.map((/** @type {any} */ row) => row[x]));
  const lines = [...rows, ...columns].map((line) => line.map(Number).join(""));
  for (const line of lines) {
    for (const run of line.match(/0{5,}|1{5,}/g) ?? []) sum += run.length - 2;
    for (const finder of FINDERS) for (let at = line.indexOf(finder); at >= 0; at = line.indexOf(finder, at + 1)) sum += 40;
  }
  for (let y = 1; y < size; y += 1) {
    for (let x = 1; x < size; x += 1) {
      if (rows[y][x] === rows[y - 1][x] && rows[y][x] === rows[y][x - 1] && rows[y][x] === rows[y - 1][x - 1]) sum += 3;
    }
  }
  const dark = rows.flat().filter(Boolean).length / (size * size);
  return sum + Math.floor(Math.abs(dark * 20 - 10)) * 10;
}
