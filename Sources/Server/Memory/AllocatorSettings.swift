import Synchronization

#if canImport(CMalloc)
  import CMalloc
#endif

/// How the C allocator treats buffers of frame size. Where there is no glibc, nothing is done.
///
/// By default it returns each to the kernel and faults in fresh pages for the next one: 450 to 1,550
/// page faults a frame. Kept, they make frames of 1 to 8 MB two to three times as fast; what is kept
/// goes back when no frames come (`docs/decisions/0010-allocator.md` has the figures).
public struct AllocatorSettings: Sendable, Hashable {
  /// Larger requests are mapped one by one, in bytes, at most 32 MiB. None: the allocator's own choice.
  public var mapThreshold: Int?
  /// Free memory at the top of the heap that is kept, in bytes.
  public var trimThreshold: Int?
  /// What the heap grows by, in bytes.
  public var topPad: Int?
  /// Heaps that threads share. Only the first gives all that is free in it back to the system; of the
  /// others it keeps the top, which for frames is nearly everything. None: eight a processor.
  public var arenas: Int?

  /// States how; what is left out stays as it is.
  public init(
    mapThreshold: Int? = nil, trimThreshold: Int? = nil, topPad: Int? = nil, arenas: Int? = nil
  ) {
    self.mapThreshold = mapThreshold
    self.trimThreshold = trimThreshold
    self.topPad = topPad
    self.arenas = arenas
  }

  /// The allocator as it is.
  public static let system = AllocatorSettings()

  /// Buffers of up to 32 MiB, the most that glibc allows, come from one heap and stay there until
  /// ``releaseFreeMemory()``.
  public static let frames = AllocatorSettings(
    mapThreshold: 32 << 20, trimThreshold: 1 << 30, topPad: 64 << 20, arenas: 1)

  /// What this process runs with, as far as ``apply()`` told it.
  public static var inForce: AllocatorSettings { Self.applied.withLock { $0 } }

  private static let applied = Mutex(AllocatorSettings.system)

  /// Applies the settings to this process. Call it first of all: buffers that are on the heap already
  /// stay where they are, and ``arenas`` counts only until a second thread has asked for memory.
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

  /// Gives what is free on the heaps back to the system, as far as ``arenas`` says. Whoever needs memory
  /// waits meanwhile: a tenth of a millisecond for each MiB.
  public static func releaseFreeMemory() {
    #if canImport(CMalloc)
      _ = malloc_trim(0)
    #endif
  }
}
