"""Generated from the records: do not edit. FAMILIES names the modules."""

FAMILIES = (
    "elementwise",
    "reduction",
    "views",
    "creation",
)
