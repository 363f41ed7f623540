export default {
  "campaign.text": "Everyone who may send in this hub can open and continue it.", "campaign.name": "Name", "campaign.saved": "Saved: {name}", "save": "Save",
  "campaign.confidential": "A confidential message cannot be saved on the server.", "campaign.wasSent": "This campaign was sent. This is a copy of it.", "campaign.wasSentBy": "{name} has sent this campaign. This is a copy of it.", "campaign.sentBy": "{name} has sent this campaign.", "campaign.goesOut": "{name} has pressed Send for this campaign.", "campaign.gone": "This campaign was deleted. The draft is still in this browser.",
  "campaign.conflict": "Replace the newer version?", "campaign.conflict.text": "{name} has changed this campaign ({time}). Your version would replace it.", "campaign.conflict.yes": "Replace it",
  "campaign.newer": "Open the newer version?", "campaign.newer.text": "{name} has changed this campaign ({time}), and you have changes in this browser that are not saved. If you open the newer version, yours are lost.", "campaign.newer.yes": "Open the newer version",
};
