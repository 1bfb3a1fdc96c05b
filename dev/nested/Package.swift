// swift-tools-version: 6.2
import PackageDescription

/// The packages inside this repository, for `dev/build`. They are built together with the traits
/// of the main package's own builds, so its modules are compiled once for all of them.
let traits: Set<Package.Dependency.Trait> = Set(
  ["Vision", "Codecs"].map { .trait(name: $0, condition: .when(traits: [$0])) })

let package = Package(
  name: "nested",
  platforms: [.macOS(.v15)],
  traits: [
    .trait(name: "Vision", description: "Builds Sidelight with Vision"),
    .trait(name: "Codecs", description: "Builds Sidelight with Codecs"),
  ],
  dependencies: [
    .package(name: "sidelight", path: "../..", traits: traits.union(["Command"])),
    .package(path: "../../Benchmarks", traits: traits),
    .package(path: "../../Examples/CallServer", traits: traits),
    .package(path: "../../Examples/CustomFilters", traits: traits),
    .package(path: "../../Examples/CustomVision", traits: traits),
    .package(path: "../../Examples/offload-device", traits: traits),
  ],
  targets: []
)
