/// Memory for another picture's pixels beside a strip, on the stack.
enum ScratchStrip {
  /// Calls `body` with a strip for the same pixels as another; what it holds is undefined.
  static func with(_ strip: Strip, _ body: (Strip) -> Void) {
    unsafe withUnsafeTemporaryAllocation(of: Float.self, capacity: 4 * Strip.capacity) { floats in
      let base = unsafe floats.baseAddress.unsafelyUnwrapped
      unsafe body(
        Strip(
          red: base, green: base + Strip.capacity, blue: base + 2 * Strip.capacity,
          alpha: base + 3 * Strip.capacity, count: strip.count, x: strip.x, y: strip.y,
          moment: strip.moment))
    }
  }
}
