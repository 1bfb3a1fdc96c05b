import SidelightTransport
import Testing

/// Names of certificates, and the hosts that they are for.
@Suite struct ServerNameCheckTests {
  @Test(
    arguments: [
      ("a.example.com", "a.example.com", true), ("A.example.COM", "a.EXAMPLE.com", true),
      ("a.example.com.", "a.example.com", true), ("b.example.com", "a.example.com", false),
      ("a.example.com", "*.example.com", true), ("a.b.example.com", "*.example.com", false),
      ("example.com", "*.example.com", false), ("a.example.com", "*.com", false),
      ("example.com", "*.com", false), ("a.example.com", "a.*.com", false),
      ("a.example.com", "a*.example.com", false), ("a.example.com", "*", false),
      ("localhost", "localhost", true), ("localhost", "*", false), ("", "", false),
      ("evil.example", "a.example.com", false),
      ("a.example.com", "a.example.com.evil.example", false),
    ])
  func `a certificate is for its own names, and a star is one label and the first`(
    _ name: String, _ pattern: String, isMatch: Bool
  ) {
    #expect(ServerNameCheck.matches(name, pattern) == isMatch)
  }
}
