public import MartletModel

/// The schemas of documents that the hub's API and the administration API have in common, by name.
public enum HubDocumentSchemas {
    public static let all: [String: JSON] = HubDescription.traceSchemas
        .merging(HubDescription.audienceSchemas) { $1 }.merging(HubDescription.deadLetterSchemas) { $1 }
        .merging(HubDescription.funnelSchemas) { $1 }.merging(HubDescription.controlSchemas) { $1 }
        .merging(HubDescription.sendingSchemas) { $1 }
}
