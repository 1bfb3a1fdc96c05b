import ArgumentParser
import SidelightKernels

extension PipelineTransition {
  /// Parses `0.5` (a fade of half a second), `wipe=0.5` or `dissolve=0.5`.
  ///
  /// - Throws: `ValidationError` for other texts, and for durations outside the limits.
  init(argument: String) throws {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let kind = parts.count == 2 ? parts[0] : "fade"
    guard let seconds = Double(parts[parts.count - 1]), seconds > 0,
      seconds <= PipelineTransition.maxDuration / .seconds(1)
    else {
      throw ValidationError(
        "'\(parts[parts.count - 1])' is no duration; it must be more than 0 and at most "
          + "\(PipelineTransition.maxDuration)")
    }
    let style: Style? =
      switch kind {
      case "fade": .fade
      case "wipe": .wipe()
      case "dissolve": .dissolve()
      default: nil
      }
    guard let style else {
      throw ValidationError("'\(kind)' is no transition; it must be fade, wipe or dissolve")
    }
    self.init(.seconds(seconds), style: style)
  }
}
