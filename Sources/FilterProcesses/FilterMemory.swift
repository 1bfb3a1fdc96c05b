import CFilterProcess
import Foundation
import SidelightKernels
import Synchronization

/// The memory that this process shares with one run of a filter process, in blocks for pictures.
///
/// It has a fixed size that neither side can change, so access never faults; pages exist from their
/// first use on. Another run of the process gets other memory.
final class FilterMemory: @unchecked Sendable {  // a block has one owner at a time
  /// A part of the memory. It is free again when the last reference is released.
  final class Block: ForeignMemory {
    let memory: FilterMemory
    let range: Range<Int>

    fileprivate init(_ memory: FilterMemory, _ range: Range<Int>) {
      self.memory = memory
      self.range = range
    }

    deinit {
      self.memory.free(self.range)
    }

    var isScarce: Bool { self.memory.isScarce }

    /// The bytes, for a picture.
    var buffer: PixelBuffer {
      PixelBuffer(
        UnsafeMutableRawBufferPointer(
          start: self.memory.base + self.range.lowerBound, count: self.range.count), of: self)
    }
  }

  /// The size of the memory of a process: a bound, of which only the pages in use exist.
  static let byteCount = 1 << 30
  private static let pageBytes = 4096

  /// The descriptor, which the process inherits.
  let descriptor: CInt
  private let base: UnsafeMutableRawPointer
  /// The free ranges, in order, without neighbours.
  private let freeRanges = Mutex([0 ..< FilterMemory.byteCount])

  /// - Throws: ``FilterProcessError`` if the system cannot provide the memory.
  init() throws(FilterProcessError) {
    let descriptor = cfp_create_memory(Self.byteCount)
    guard descriptor >= 0 else {
      throw FilterProcessError("no memory can be shared: \(systemText(-descriptor))")
    }
    guard let base = cfp_map(descriptor, Self.byteCount) else {
      let code = errno
      close(descriptor)
      throw FilterProcessError("no memory can be mapped: \(systemText(code))")
    }
    self.descriptor = descriptor
    self.base = base
  }

  deinit {
    munmap(self.base, Self.byteCount)
    close(self.descriptor)
  }

  /// Whether more than a quarter of the memory is in use.
  fileprivate var isScarce: Bool {
    self.freeRanges.withLock { ranges in
      ranges.reduce(0) { $0 + $1.count } < Self.byteCount / 4 * 3
    }
  }

  /// Returns a block for a picture, with undefined contents.
  ///
  /// - Throws: ``FilterProcessError`` if the memory is in use.
  func allocate(_ byteCount: Int) throws(FilterProcessError) -> Block {
    let count = max(1, byteCount).roundedUp(to: Self.pageBytes)
    let start = self.freeRanges.withLock { ranges -> Int? in
      guard let index = ranges.firstIndex(where: { $0.count >= count }) else { return nil }
      let range = ranges[index]
      let rest = range.lowerBound + count ..< range.upperBound
      if rest.isEmpty { ranges.remove(at: index) } else { ranges[index] = rest }
      return range.lowerBound
    }
    guard let start else {
      throw FilterProcessError(
        "the memory of the filter process is in use: a picture needs \(count) of its "
          + "\(Self.byteCount) bytes")
    }
    return Block(self, start ..< start + count)
  }

  private func free(_ range: Range<Int>) {
    self.freeRanges.withLock { ranges in
      var (start, end) = (range.lowerBound, range.upperBound)
      let index = ranges.firstIndex { $0.lowerBound >= end } ?? ranges.endIndex
      if index < ranges.endIndex, ranges[index].lowerBound == end {
        end = ranges.remove(at: index).upperBound
      }
      if index > 0, ranges[index - 1].upperBound == start {
        start = ranges[index - 1].lowerBound
        ranges[index - 1] = start ..< end
      } else {
        ranges.insert(start ..< end, at: index)
      }
    }
  }

  /// Returns the pages of free blocks to the system.
  func releasePages() {
    self.freeRanges.withLock { ranges in
      for range in ranges { cfp_release(self.descriptor, range.lowerBound, range.count) }
    }
  }
}

extension Int {
  fileprivate func roundedUp(to unit: Int) -> Int { (self + unit - 1) / unit * unit }
}

func systemText(_ code: CInt) -> String { String(cString: strerror(code)) }

/// An error of a filter process, as a sentence for logs and for the frames that fail.
package struct FilterProcessError: Error, Sendable, Hashable, CustomStringConvertible {
  package let description: String

  init(_ description: String) {
    self.description = description
  }
}
