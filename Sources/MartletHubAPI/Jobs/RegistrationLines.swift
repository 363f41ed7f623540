public import MartletCore
import MartletModel

/// Registrations as lines of a file. Each line is the description element of a registration's entry, without the entry
/// (NotificationHubs.md, section 9.3).
public struct RegistrationLines: JobLines {
    private let devices: DeviceRegistry
    let platforms: PushPlatformList

    public init(devices: DeviceRegistry, platforms: PushPlatformList) {
        self.devices = devices
        self.platforms = platforms
    }

    public var lengthLimit: Int { RegistrationDocument.sizeLimit }

    public func change(
        _ line: [UInt8], _ kind: Job.Kind, in hub: Hub.ID
    ) throws(JobLineError) -> RegistrationChange {
        do throws(HubAPIError) {
            let description = try RegistrationDocument.description(in: line)
            let id = description.content("RegistrationId")
            if kind == .importDelete { return .delete(id: try Self.needed(id), condition: .none) }
            let document = try RegistrationDocument(description, platforms: platforms)
            if let part = try InstallationLine(document, description, platforms).part {
                return try merge(part, id, kind, in: hub)
            }
            let draft = try draft(document, in: hub)
            switch kind {
            case .importUpdate:
                return .put(draft, id: try Self.needed(id), condition: try Self.condition(description.content("ETag")))
            case .importUpsert:
                guard let id else { return .put(draft, id: DeviceRegistry.newID(), condition: .fresh) }
                return .put(draft, id: try Self.needed(id), condition: .none)
            case .importCreate, .importDelete, .export:
                return .put(draft, id: DeviceRegistry.newID(), condition: .fresh)
            }
        } catch {
            throw JobLineError(error.sentence + ".")
        }
    }

    public func line(_ registration: Registration) -> [UInt8]? {
        guard let descriptor = platforms[registration.platform]?.descriptor else { return nil }
        return Self.onOneLine(
            RegistrationEntry(registration: registration, descriptor: descriptor, url: "").description)
    }

    /// Imports a line as a part of the installation that it names, instead of as a separate registration.
    private func merge(
        _ part: InstallationPart, _ id: String?, _ kind: Job.Kind, in hub: Hub.ID
    ) throws(HubAPIError) -> RegistrationChange {
        let kept = kind == .importUpsert && id != nil ? try Self.needed(id) : nil
        do throws(DeviceRegistryError) {
            return try devices.merge(part, registrationID: kept, updatesOnly: kind == .importUpdate, in: hub)
        } catch {
            throw HubAPIError(error)
        }
    }

    func draft(
        _ document: RegistrationDocument, in hub: Hub.ID
    ) throws(HubAPIError) -> RegistrationDraft {
        do throws(DeviceRegistryError) {
            return try devices.draft(
                in: hub, platform: document.platform, handle: document.handle,
                tags: document.tags.filter { !$0.folded.hasPrefix(InstallationLine.registrationPrefix) },
                template: document.template, pushVariables: document.pushVariables,
                secondaryTile: document.secondaryTile)
        } catch {
            throw HubAPIError(error)
        }
    }

    private static func condition(_ tag: String?) throws(HubAPIError) -> WriteCondition {
        guard let tag, tag != "*" else { return .exists }
        guard let version = Int64(tag) else { throw .badRequest("The ETag is none that this server gives") }
        return .version(version)
    }

    static func needed(_ id: String?) throws(HubAPIError) -> String {
        guard let id else { throw .badRequest("The registration has no RegistrationId") }
        do throws(DeviceRegistryError) {
            try DeviceRegistry.check(id)
        } catch {
            throw HubAPIError(error)
        }
        return id
    }

    /// Returns a description on one line. Line breaks in a template become character references. Character references
    /// work only outside CDATA sections, so a CDATA section is closed before a reference, and a new one is opened after
    /// it.
    private static func onOneLine(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(UInt8(ascii: "\n")) else { return bytes }
        var line: [UInt8] = []
        var isInside = false
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "[") where !isInside: isInside = bytes[...index].suffix(9).elementsEqual("<![CDATA[".utf8)
            case UInt8(ascii: ">") where isInside: isInside = !bytes[...index].suffix(3).elementsEqual("]]>".utf8)
            default: break
            }
            if byte == UInt8(ascii: "\n") {
                line += (isInside ? "]]>&#10;<![CDATA[" : "&#10;").utf8
            } else {
                line.append(byte)
            }
        }
        return line
    }
}
