extension Strip {
  /// Calls `body` with the floats of red, green and blue, in this order.
  @inline(__always)
  func forEachColor(_ body: (_ channel: UnsafeMutablePointer<Float>) -> Void) {
    unsafe body(self.red)
    unsafe body(self.green)
    unsafe body(self.blue)
  }

  /// Calls `body` with the floats of red, green, blue and alpha, in this order.
  @inline(__always)
  func forEachChannel(_ body: (_ channel: UnsafeMutablePointer<Float>) -> Void) {
    unsafe self.forEachColor(body)
    unsafe body(self.alpha)
  }
}
