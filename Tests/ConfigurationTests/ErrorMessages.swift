import SidelightConfiguration

/// Returns the error messages of settings; empty if they are valid.
func errorMessages(
  _ arguments: [String] = [], environment: [String: String] = [:]
) -> [String] {
  do throws(SettingErrors) {
    _ = try Settings(commandLine: CommandLineSource(arguments), environment: environment)
    return []
  } catch {
    return error.all.map(\.description)
  }
}
