import MartletModel
import MartletStorage

extension ServerConfiguration {
    /// The version of this program, in the form in which a database records it.
    var program: ProgramVersion {
        ProgramVersion(version: version, commit: build.prefix { $0 != "," && $0 != ";" }.description)
    }

    /// Returns the settings for the upgrade of a database with an older schema: whether a copy is made first, and how
    /// progress is logged.
    func upgrade(_ log: Log) -> Upgrade {
        let time = SystemTime()
        let copy = UpgradeCopy(
            directory: dataDirectory, version: version.isEmpty ? "upgrade" : version, log: log, time: time)
        return Upgrade(program: program, now: time.now, copy: copiesBeforeUpgrade ? copy.write : nil) { event in
            log.write(.info, Self.sentence(of: event), fields(of: event))
        }
    }

    private static func sentence(of event: Upgrade.Event) -> String {
        switch event {
        case .began: "Upgrading the database."
        case .step(let number, let count, _): "Upgrading the database: step \(number) of \(count)."
        case .ended: "The database is upgraded."
        }
    }

    private func fields(of event: Upgrade.Event) -> [String: JSON] {
        switch event {
        case .began(let old, let done, let steps):
            var fields: [String: JSON] = [
                "to": .string(version), "schema": .integer(Int64(done)), "newSchema": .integer(Int64(steps)),
            ]
            if let old { fields["from"] = .string(old.version) }
            return fields
        case .step(_, _, let name): return ["step": .string(name)]
        case .ended: return [:]
        }
    }
}
