/// A fault in the arguments.
struct UsageError: Error, CustomStringConvertible {
  let description: String
}
