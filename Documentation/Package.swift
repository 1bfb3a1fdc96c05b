// swift-tools-version: 6.2
import PackageDescription

/// Builds the documentation, for `dev/docs`. It is a separate package, so users of the libraries do
/// not resolve swift-docc-plugin.
///
/// The plugin documents the modules that targets of this package depend on, so every target depends on
/// all of them. The targets compile the code of the tutorial, one per state of a package.
let modules: [Target.Dependency] = [
  .product(name: "SidelightClient", package: "sidelight"),
  .product(name: "SidelightKernels", package: "sidelight"),
  .product(name: "SidelightScene", package: "sidelight"),
  .product(name: "SidelightServer", package: "sidelight"),
  .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
  .product(name: "Logging", package: "swift-log"),
]

/// `Tutorial` is a link to the resources of the catalogue of `SidelightKernels`.
func sources(_ names: String...) -> [String] { names.map { "first-filter-\($0).swift" } }

let package = Package(
  name: "Sidelight",
  platforms: [.macOS(.v15)],
  traits: [
    .trait(name: "Vision", description: "Sidelight with faces and models (needs OpenCV)"),
    .trait(name: "Codecs", description: "Sidelight with encoded video (needs its libraries)"),
  ],
  dependencies: [
    .package(
      name: "sidelight", path: "..",
      traits: [
        "Command", .trait(name: "Vision", condition: .when(traits: ["Vision"])),
        .trait(name: "Codecs", condition: .when(traits: ["Codecs"])),
      ]),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"),
  ],
  targets: [
    .target(
      name: "TutorialKernel", dependencies: modules, path: "Tutorial", sources: sources("kernel-1")),
    .executableTarget(
      name: "TutorialServer", dependencies: modules, path: "Tutorial",
      sources: sources("kernel-2", "server-1")),
    .executableTarget(
      name: "TutorialParameter", dependencies: modules, path: "Tutorial",
      sources: sources("kernel-3", "server-2")),
  ]
)
