/// One pass over the picture: reads rasters, writes another.
package protocol Pass: Sendable {
  /// What the pass does, for people.
  var description: PassDescription { get }

  /// Computes every sample of the context's output.
  func run(_ context: PassContext) async throws
}
