-- The words that rows and users choose from, each as likely as any other.

return {
  subjects = {
    "ARTS", "BIOGRAPHIES", "BUSINESS", "CHILDREN", "COMPUTERS", "COOKING", "HEALTH", "HISTORY", "HOME", "HUMOR",
    "LITERATURE", "MYSTERY", "NON-FICTION", "PARENTING", "POLITICS", "REFERENCE", "RELIGION", "ROMANCE", "SELF-HELP",
    "SCIENCE-NATURE", "SCIENCE-FICTION", "SPORTS", "YOUTH", "TRAVEL",
  },
  backings = { "HARDBACK", "PAPERBACK", "USED", "AUDIO", "LIMITED-EDITION" },
  ship_types = { "AIR", "UPS", "FEDEX", "SHIP", "COURIER", "MAIL" },
  statuses = { "PROCESSING", "SHIPPED", "PENDING", "DENIED" },
  card_types = { "VISA", "MASTERCARD", "DISCOVER", "AMEX", "DINERS" },
}
