extension String {
  /// The text, cut off after so many bytes, with an ellipsis where it is.
  ///
  /// For what a stranger wrote and an error repeats: errors travel in headers, and clients refuse
  /// headers of more than 8 KiB. Characters are no measure, since one may have any number of bytes.
  ///
  /// - Parameter limit: At least 3.
  package func clipped(toBytes limit: Int) -> String {
    guard self.utf8.count > limit else { return self }
    return String(decoding: self.utf8.prefix(limit - 3), as: UTF8.self) + "..."
  }
}
