import ArgumentParser
import GRPCCore
import SidelightKernels

extension Pipeline {
  /// Runs something that sends the pipeline to a server. If the server refuses, and the pipeline names
  /// assets, the error says that a server cannot read files from here.
  ///
  /// - Throws: What `body` throws, with that explanation.
  func explainingAssets<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
      return try await body()
    } catch {
      let isRefused = (error as? RPCError)?.code == .invalidArgument || error is RefusedPipeline
      guard isRefused, let use = self.assetUses(in: .builtIn).first else { throw error }
      throw ValidationError(
        """
        \(error)
        The pipeline names the asset "\(use.name)". A server has assets of its own and reads no \
        files from here: 'sidelight assets put' gives it one, and 'sidelight apply' without --server \
        reads files.
        """)
    }
  }
}
