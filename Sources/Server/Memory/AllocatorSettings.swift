import Foundation
import Synchronization

#if canImport(CMalloc)
  import CMalloc
#endif

/// The settings of the process's C allocator for buffers of frame size. They have no effect without
/// glibc.
///
/// By default glibc returns every buffer to the kernel and faults in fresh pages for the next one:
/// 450 to 1,550 page faults a frame. With buffers that stay on the heap, frames of 1 to 8 MB are
/// two to three times as fast; the server returns the free memory when frames stop arriving
/// (`docs/decisions/0052-memory.md` has the figures).
///
/// The settings concern the whole process, so `sidelight serve` applies them; a program that embeds
/// a server may do so itself.
public struct AllocatorSettings: Sendable, Hashable {
  /// The size in bytes, at most 32 MiB, from which every request gets its own mapping. `nil` leaves
  /// it to glibc.
  public var mapThreshold: Int?
  /// The free memory at the top of the heap that is kept, in bytes. `nil` leaves it to glibc.
  public var trimThreshold: Int?
  /// The bytes by which the heap grows. `nil` leaves it to glibc.
  public var topPad: Int?
  /// The heaps that threads share. Only the first returns all of its free memory to the system; the
  /// others keep their top, which is nearly all of it for frames. `nil` leaves it to glibc: eight
  /// per processor.
  public var arenas: Int?

  /// Creates settings. `nil` leaves a value to glibc.
  public init(
    mapThreshold: Int? = nil, trimThreshold: Int? = nil, topPad: Int? = nil, arenas: Int? = nil
  ) {
    self.mapThreshold = mapThreshold
    self.trimThreshold = trimThreshold
    self.topPad = topPad
    self.arenas = arenas
  }

  /// The allocator's own settings.
  public static let system = AllocatorSettings()

  /// Settings for video: buffers of up to 32 MiB, glibc's maximum, come from one heap and stay
  /// there until ``releaseFreeMemory()``.
  public static let frames = AllocatorSettings(
    mapThreshold: 32 << 20, trimThreshold: 1 << 30, topPad: 64 << 20, arenas: 1)

  /// The settings that ``apply()`` last applied to this process.
  public static var current: AllocatorSettings { Self.applied.withLock { $0 } }

  private static let applied = Mutex(AllocatorSettings.system)

  /// Applies the settings to this process. It must be the first call: buffers that are on the heap
  /// already stay where they are, and ``arenas`` has no effect once a second thread has requested
  /// memory.
  public func apply() {
    #if canImport(CMalloc)
      Self.applied.withLock { applied in
        for (option, value) in [
          (M_MMAP_THRESHOLD, self.mapThreshold), (M_TRIM_THRESHOLD, self.trimThreshold),
          (M_TOP_PAD, self.topPad), (M_ARENA_MAX, self.arenas),
        ] {
          if let value { _ = mallopt(option, Int32(clamping: value)) }
        }
        applied = self
      }
    #endif
  }

  /// Returns the free memory of the heaps to the system, within the limits of ``arenas``. Threads
  /// that need memory wait meanwhile: a tenth of a millisecond per MiB.
  public static func releaseFreeMemory() {
    #if canImport(CMalloc)
      _ = malloc_trim(0)
    #endif
  }
}

/// The memory held by the process, and the part used by the program.
package struct HeapUsage: Sendable, Hashable {
  /// The resident bytes that are not backed by files: heaps, used and free, stacks, and pages of
  /// pictures.
  package var residentBytes: Int
  /// The bytes allocated by the program, resident or not.
  package var usedBytes: Int

  package init(residentBytes: Int, usedBytes: Int) {
    self.residentBytes = residentBytes
    self.usedBytes = usedBytes
  }

  /// Reads the current usage, or `nil` without glibc. Holds the locks of the heaps while their free
  /// chunks are counted: two milliseconds for ten thousand.
  package static func current() -> HeapUsage? {
    #if canImport(CMalloc)
      // All pages, the resident pages, and the resident pages of files.
      let sizes = FileManager.default.contents(atPath: "/proc/self/statm") ?? Data()
      let pages = String(decoding: sizes, as: UTF8.self).split(separator: " ").map {
        Int($0) ?? 0
      }
      guard pages.count > 2 else { return nil }
      return HeapUsage(
        residentBytes: (pages[1] - pages[2]) * sysconf(Int32(_SC_PAGESIZE)),
        usedBytes: Int(cmalloc_used_bytes()))
    #else
      return nil
    #endif
  }
}
