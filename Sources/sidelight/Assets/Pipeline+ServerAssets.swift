import ArgumentParser
import GRPCCore
import SidelightKernels

extension Pipeline {
  /// Runs an operation that sends the pipeline to a server. If the server refuses it and the
  /// pipeline names assets, the error explains that a server cannot read local files.
  ///
  /// - Throws: The error of `body`, with that explanation.
  func explainingAssets<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
      return try await body()
    } catch {
      let isRefused = (error as? RPCError)?.code == .invalidArgument || error is RefusedPipeline
      guard isRefused, let use = self.assetUses(in: .builtIn).first else { throw error }
      throw ValidationError(
        """
        \(error)
        The pipeline names the asset "\(use.name)". A server cannot read local files: upload the \
        file with 'sidelight assets put', or run 'sidelight apply' without --server.
        """)
    }
  }
}
