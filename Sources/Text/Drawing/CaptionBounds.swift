import SidelightKernels

/// A rectangle of pixels, which may be empty.
struct CaptionBounds {
  var left: Int
  var top: Int
  var right: Int
  var bottom: Int

  static let empty = CaptionBounds(left: 0, top: 0, right: 0, bottom: 0)

  var isEmpty: Bool { self.left >= self.right || self.top >= self.bottom }

  /// Extends the rectangle to one that contains both.
  mutating func formUnion(_ other: CaptionBounds) {
    if other.isEmpty { return }
    if self.isEmpty {
      self = other
      return
    }
    self = CaptionBounds(
      left: min(self.left, other.left), top: min(self.top, other.top),
      right: max(self.right, other.right), bottom: max(self.bottom, other.bottom))
  }

  var pixelCount: Int {
    self.isEmpty ? 0 : (self.right - self.left) * (self.bottom - self.top)
  }

  func intersection(_ other: CaptionBounds) -> CaptionBounds {
    let bounds = CaptionBounds(
      left: max(self.left, other.left), top: max(self.top, other.top),
      right: min(self.right, other.right), bottom: min(self.bottom, other.bottom))
    return bounds.isEmpty ? .empty : bounds
  }

  func expanded(by margin: Int) -> CaptionBounds {
    CaptionBounds(
      left: self.left - margin, top: self.top - margin, right: self.right + margin,
      bottom: self.bottom + margin)
  }

  func shifted(_ x: Int, _ y: Int) -> CaptionBounds {
    CaptionBounds(
      left: self.left + x, top: self.top + y, right: self.right + x, bottom: self.bottom + y)
  }

  mutating func clamp(to frame: FrameSize) {
    self.left = max(self.left, 0)
    self.top = max(self.top, 0)
    self.right = min(self.right, frame.width)
    self.bottom = min(self.bottom, frame.height)
  }
}
