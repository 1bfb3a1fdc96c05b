package import SidelightKernels

extension ResolvedPipeline {
  /// The kernels of the stages with the filter `kernel`, active or not, with their stages' paths.
  package var kernels: [(stage: String, text: KernelText)] {
    Self.kernels(of: self.stages, path: "")
  }

  private static func kernels(
    of stages: [ResolvedStage], path: String
  ) -> [(stage: String, text: KernelText)] {
    stages.enumerated().flatMap { index, stage -> [(stage: String, text: KernelText)] in
      let path = "\(path)stages[\(index)]"
      switch stage.content {
      case .filter(_, _, let value):
        return (value as? TextKernel)?.text.map { [(path, $0)] } ?? []
      case .stages(let inner, _): return Self.kernels(of: inner, path: "\(path).pipeline.")
      }
    }
  }
}
