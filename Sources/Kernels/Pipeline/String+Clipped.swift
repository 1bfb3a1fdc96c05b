extension String {
  /// The text, cut off at a character boundary after a number of bytes, with an ellipsis where it
  /// is cut.
  ///
  /// For text of a caller that an error, a log line or a list repeats: errors travel in headers,
  /// and clients refuse headers of more than 8 KiB. The bound counts bytes, since one character may
  /// have any number of them.
  ///
  /// - Parameter limit: The most bytes of the result; at least 3.
  package func clipped(toBytes limit: Int) -> String {
    guard self.utf8.count > limit else { return self }
    // A position within a scalar is rounded down to the scalar's start.
    let end = self.utf8.index(self.utf8.startIndex, offsetBy: limit - 3)
    return String(self.unicodeScalars[..<end]) + "..."
  }
}
