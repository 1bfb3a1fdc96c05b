/// One pass over the picture: reads rasters, writes another.
package protocol Pass: Sendable {
  /// What the pass does, for people.
  var description: PassDescription { get }

  /// Whether the output may be the very memory of an input: each sample is written only after
  /// everything was read that depends on it, by this band and by all others. By default it may not.
  var worksInPlace: Bool { get }

  /// Computes every sample of the context's output, and writes nothing else: neither padding between
  /// rows nor anything beyond the last.
  func run(_ context: PassContext) async throws
}

extension Pass {
  package var worksInPlace: Bool { false }
}
