import FuzzDriver
import MartletModel

/// Input: a JSON Patch of an installation. Checks that it is refused, or that the patched installation can be written and
/// parsed again.
@main
struct FuzzInstallationPatch {
    static func main() {
        fuzz { bytes, count in
            let document = Array(UnsafeBufferPointer(start: bytes, count: count))
            guard let patch = try? InstallationPatch(parsing: document),
                let changed = try? patch.apply(to: FuzzInstallationPatch.installation())
            else { return 0 }
            guard let again = try? Installation(parsing: changed.json.bytes) else {
                preconditionFailure("what was patched is no installation")
            }
            precondition(again.json == changed.json, "a patched installation reads as it was written")
            precondition((try? patch.apply(to: changed)) != nil, "a patch goes twice")
            return 0
        }
    }

    /// An installation that has every member that a patch can change.
    private static func installation() -> Installation {
        let template = InstallationTemplate(body: "b", headers: ["h": "1"], expiry: "0")
        return Installation(
            id: "i", userID: "u", platform: PlatformID(rawValue: "p"), pushChannel: .text("c"),
            pushVariables: ["v": "1"], templates: ["t": template],
            secondaryTiles: ["s": SecondaryTile(pushChannel: .text("d"), templates: ["t": template])])
    }
}
