/// Room for bytes that will be written later.
///
/// The transport's bytes are made from a sequence, and would otherwise be filled with zeros first: a
/// pass over memory that costs half of what a copy costs. The standard library asks a sequence to copy
/// itself, and this one has nothing to copy. To be replaced when `GRPCNIOTransportBytes` can be made
/// without contents, or from a `ByteBuffer`.
struct UnwrittenBytes: Sequence {
  let count: Int

  var underestimatedCount: Int { self.count }

  func makeIterator() -> AnyIterator<UInt8> {
    AnyIterator(repeatElement(0, count: self.count).makeIterator())
  }

  func _copyContents(
    initializing buffer: UnsafeMutableBufferPointer<UInt8>
  ) -> (AnyIterator<UInt8>, Int) {
    (AnyIterator(EmptyCollection<UInt8>.Iterator()), Swift.min(buffer.count, self.count))
  }
}
