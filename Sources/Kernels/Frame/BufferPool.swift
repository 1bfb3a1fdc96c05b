import Synchronization

/// A pool of memory for frames.
///
/// A fresh buffer of a 1080p frame costs more in page faults than any filter costs in arithmetic,
/// so buffers are reused by size. A buffer returns to the pool when the last frame that refers to
/// it is released. The memory of idle buffers is bounded; the pool frees the buffer that was idle
/// longest first.
public final class BufferPool: Sendable {
  /// Counters of a pool.
  public struct Statistics: Sendable, Hashable {
    /// Requests that an idle buffer served.
    public var hits = 0
    /// Requests that needed fresh memory.
    public var misses = 0
    /// Bytes in buffers that frames refer to.
    public var bytesInUse = 0
    /// Bytes in idle buffers.
    public var bytesIdle = 0
  }

  /// A buffer that no frame refers to.
  @safe
  private struct Block: @unchecked Sendable {  // has one owner: the pool, then one PixelBuffer
    let bytes: UnsafeMutableRawBufferPointer
  }

  private struct State {
    var idle: [Int: [(block: Block, since: UInt64)]] = [:]
    var returns: UInt64 = 0
    var statistics = Statistics()
    /// The fewest idle bytes since the last ``trimUnneeded()``.
    var minIdleBytes = 0
  }

  private let maxIdleBytes: Int
  private let usesPages: Bool
  private let state = Mutex(State())

  /// Creates an empty pool.
  ///
  /// - Parameter maxIdleBytes: The maximum size of all idle buffers in bytes; 256 MiB by default.
  public init(maxIdleBytes: Int = 256 << 20) {
    self.maxIdleBytes = maxIdleBytes
    self.usesPages = false
  }

  /// Creates an empty pool.
  ///
  /// - Parameters:
  ///   - maxIdleBytes: The maximum size of all idle buffers in bytes.
  ///   - usesPages: Whether buffers are mapped pages, which return to the system when they are
  ///     freed, instead of heap memory.
  package init(maxIdleBytes: Int, usesPages: Bool) {
    self.maxIdleBytes = maxIdleBytes
    self.usesPages = usesPages
  }

  deinit {
    self.trim(to: 0)
  }

  /// The current counters.
  public var statistics: Statistics { self.state.withLock { $0.statistics } }

  /// Returns a writable frame in a buffer of the pool with aligned strides. Its samples are
  /// undefined.
  ///
  /// - Throws: ``FrameLayoutError`` for a size outside 1 ... ``FrameLayout/maxDimension``.
  public func makeFrame(
    _ geometry: FrameGeometry, orientation: Orientation = .upright
  ) throws(FrameLayoutError) -> MutableFrame {
    self.makeFrame(
      layout: try FrameLayout(aligned: geometry.format, size: geometry.size),
      color: geometry.color, orientation: orientation)
  }

  /// Returns a writable frame with the given layout in a buffer of the pool. Its samples are
  /// undefined.
  public func makeFrame(
    layout: FrameLayout, color: ColorDescription, orientation: Orientation = .upright
  ) -> MutableFrame {
    MutableFrame(
      layout: layout, color: color, orientation: orientation,
      buffer: self.makeBuffer(byteCount: layout.byteCount))
  }

  /// Returns a buffer of at least the given size, aligned to 64 bytes. Its bytes are undefined.
  package func makeBuffer(byteCount: Int) -> PixelBuffer {
    let capacity = Self.sizeClass(byteCount)
    let idle = self.state.withLock { state -> Block? in
      state.statistics.bytesInUse += capacity
      guard let idle = state.idle[capacity]?.popLast()?.block else {
        state.statistics.misses += 1
        return nil
      }
      state.statistics.hits += 1
      state.statistics.bytesIdle -= capacity
      state.minIdleBytes = min(state.minIdleBytes, state.statistics.bytesIdle)
      return idle
    }
    let bytes = unsafe idle?.bytes ?? self.allocate(capacity)
    return unsafe PixelBuffer(borrowing: bytes) { unsafe self.recycle($0) }
  }

  /// Frees idle buffers, in the order in which they became idle, until at most `bytes` are left.
  ///
  /// - Returns: Whether any buffer was freed.
  @discardableResult
  public func trim(to bytes: Int) -> Bool {
    var isFreed = false
    while let victim = self.state.withLock({ Self.removeOldest(&$0, above: bytes) }) {
      if self.usesPages {
        unsafe PageMemory.deallocate(victim.bytes)
      } else {
        unsafe victim.bytes.deallocate()
      }
      isFreed = true
    }
    return isFreed
  }

  /// Frees as many bytes as were idle for the whole time since the last call, in the order in which
  /// they became idle.
  ///
  /// - Returns: Whether any buffer was freed.
  @discardableResult
  public func trimUnneeded() -> Bool {
    let needed = self.state.withLock { state in
      defer { state.minIdleBytes = state.statistics.bytesIdle }
      return state.statistics.bytesIdle - state.minIdleBytes
    }
    return self.trim(to: needed)
  }

  private func allocate(_ capacity: Int) -> UnsafeMutableRawBufferPointer {
    guard !self.usesPages else { return unsafe PageMemory.allocate(byteCount: capacity) }
    return .allocate(byteCount: capacity, alignment: 64)
  }

  private func recycle(_ bytes: UnsafeMutableRawBufferPointer) {
    let capacity = bytes.count
    let idle = unsafe Block(bytes: bytes)
    self.state.withLock { state in
      state.returns += 1
      state.statistics.bytesInUse -= capacity
      state.statistics.bytesIdle += capacity
      state.idle[capacity, default: []].append((idle, state.returns))
    }
    self.trim(to: self.maxIdleBytes)
  }

  private static func removeOldest(_ state: inout State, above bytes: Int) -> Block? {
    guard state.statistics.bytesIdle > bytes else { return nil }
    // A bucket is used from its end, so its first buffer was idle longest.
    let oldest = state.idle
      .compactMap { capacity, bucket in bucket.first.map { (capacity, $0.since) } }
      .min { $0.1 < $1.1 }
    guard let (capacity, _) = oldest, let idle = state.idle[capacity]?.removeFirst().block else {
      return nil
    }
    if state.idle[capacity]?.isEmpty == true { state.idle[capacity] = nil }
    state.statistics.bytesIdle -= capacity
    state.minIdleBytes = min(state.minIdleBytes, state.statistics.bytesIdle)
    return idle
  }

  /// Rounds a size up to one of eight steps between powers of two, to share buffers among sizes
  /// that differ by a few rows. At most an eighth of a buffer is unused.
  static func sizeClass(_ byteCount: Int) -> Int {
    guard byteCount > 4096 else { return 4096 }
    let step = max(4096, 1 << (Int.bitWidth - (byteCount - 1).leadingZeroBitCount - 4))
    return (byteCount + step - 1) / step * step
  }
}
