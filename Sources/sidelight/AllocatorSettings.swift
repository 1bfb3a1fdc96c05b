#if canImport(CMalloc)
  import CMalloc
#endif

/// How the C allocator treats buffers of frame size.
///
/// By default it returns each to the kernel and faults in fresh pages for the next one: 450 to 1,550
/// page faults a frame. Kept, they make frames of 1 to 8 MB two to three times as fast.
struct AllocatorSettings {
  /// Larger requests are mapped one by one, in bytes.
  var mapThreshold: Int32
  /// Free memory at the top of the heap that is kept, in bytes.
  var trimThreshold: Int32
  /// What the heap grows by, in bytes.
  var topPad: Int32

  /// Buffers of up to 32 MiB, the most that glibc allows, come from the heap and stay there.
  static let forFrames = AllocatorSettings(
    mapThreshold: 32 << 20, trimThreshold: 1 << 30, topPad: 64 << 20)

  /// Applies the settings to this process. Without glibc it does nothing.
  func apply() {
    #if canImport(CMalloc)
      _ = mallopt(M_MMAP_THRESHOLD, self.mapThreshold)
      _ = mallopt(M_TRIM_THRESHOLD, self.trimThreshold)
      _ = mallopt(M_TOP_PAD, self.topPad)
    #endif
  }
}
