#include "disclosure.h"
#include "json_text.h"

#define REQUIRED(key, title)                                                                                           \
    {                                                                                                                  \
        key, title, DISCLOSURE_REQUIRED, DISCLOSURE_IS_TEXT                                                            \
    }
#define REQUIRED_NUMBER(key, title)                                                                                    \
    {                                                                                                                  \
        key, title, DISCLOSURE_REQUIRED, DISCLOSURE_IS_NUMBER                                                          \
    }
#define EXPECTED(key, title)                                                                                           \
    {                                                                                                                  \
        key, title, DISCLOSURE_EXPECTED, DISCLOSURE_IS_TEXT                                                            \
    }
#define EXPECTED_NUMBER(key, title)                                                                                    \
    {                                                                                                                  \
        key, title, DISCLOSURE_EXPECTED, DISCLOSURE_IS_NUMBER                                                          \
    }
#define OPTIONAL(key, title)                                                                                           \
    {                                                                                                                  \
        key, title, DISCLOSURE_OPTIONAL, DISCLOSURE_IS_TEXT                                                            \
    }
#define OPTIONAL_NUMBER(key, title)                                                                                    \
    {                                                                                                                  \
        key, title, DISCLOSURE_OPTIONAL, DISCLOSURE_IS_NUMBER                                                          \
    }
#define END                                                                                                            \
    {                                                                                                                  \
        0                                                                                                              \
    }

static const struct disclosure_field product[] = {
    REQUIRED("tested_by", "Tested by"),
    REQUIRED("product_name", "Product name"),
    REQUIRED("hardware_available", "Hardware available"),
    REQUIRED("software_available", "Software available"),
    REQUIRED("date_tested", "Date tested"),
    OPTIONAL("license_number", "Licence number"),
    EXPECTED("licensee_locations", "Locations"),
    EXPECTED("description", "Description"),
    END,
};

static const struct disclosure_field materials[] = {
    REQUIRED_NUMBER("item", "Item"),
    REQUIRED_NUMBER("quantity", "Qty"),
    REQUIRED("type", "Type"),
    REQUIRED("vendor", "Vendor"),
    REQUIRED("model", "Model/name"),
    REQUIRED("description", "Description"),
    END,
};

static const struct disclosure_field software[] = {
    REQUIRED("os", "OS name and version"),
    EXPECTED("other_software", "Other software"),
    REQUIRED("filesystem_software", "File system software"),
    END,
};

static const struct disclosure_field tuning[] = {
    REQUIRED("name", "Name"),
    REQUIRED("value", "Value"),
    EXPECTED("description", "Description"),
    END,
};

static const struct disclosure_field disks[] = {
    REQUIRED("description", "Description"),
    REQUIRED_NUMBER("disks", "Number of disks"),
    REQUIRED_NUMBER("usable_gb", "Usable size (GB)"),
    END,
};

static const struct disclosure_field filesystems[] = {
    REQUIRED_NUMBER("count", "Number of file systems"),
    REQUIRED_NUMBER("total_exported_gb", "Total exported capacity (GB)"),
    REQUIRED("type", "File system type"),
    REQUIRED("creation_options", "File system creation options"),
    REQUIRED("config", "File system configuration"),
    REQUIRED_NUMBER("fileset_gb", "Fileset size (GB)"),
    END,
};

static const struct disclosure_field network[] = {
    REQUIRED_NUMBER("item", "Item"),
    REQUIRED("type", "Network type"),
    REQUIRED_NUMBER("ports", "Number of ports used"),
    EXPECTED("notes", "Notes"),
    END,
};

static const struct disclosure_field processors[] = {
    REQUIRED_NUMBER("item", "Item"),        REQUIRED_NUMBER("quantity", "Qty"),          REQUIRED("type", "Type"),
    REQUIRED("description", "Description"), REQUIRED("function", "Processing function"), END,
};

static const struct disclosure_field memory[] = {
    REQUIRED("description", "Description"),
    REQUIRED_NUMBER("size_gb", "Size (GB)"),
    REQUIRED_NUMBER("instances", "Number of instances"),
    REQUIRED_NUMBER("total_gb", "Total (GB)"),
    REQUIRED("nonvolatile", "Nonvolatile"),
    END,
};

static const struct disclosure_field testbed_materials[] = {
    REQUIRED_NUMBER("item", "Item"), REQUIRED_NUMBER("quantity", "Qty"),     REQUIRED("vendor", "Vendor"),
    REQUIRED("model", "Model/name"), REQUIRED("description", "Description"), END,
};

static const struct disclosure_field load_generators[] = {
    REQUIRED("type", "LG type"),
    EXPECTED_NUMBER("bom_item", "BOM item"),
    REQUIRED("processor", "Processor name"),
    REQUIRED("speed", "Processor speed"),
    REQUIRED_NUMBER("chips", "Number of processors (chips)"),
    REQUIRED_NUMBER("cores_per_chip", "Cores per chip"),
    REQUIRED_NUMBER("memory_gb", "Memory size (GB)"),
    REQUIRED("os", "Operating system"),
    REQUIRED("network_type", "Network type"),
    OPTIONAL("model", "Model"),
    OPTIONAL("addresses", "Addresses"),
    END,
};

static const struct disclosure_field parameters[] = {
    REQUIRED("nas_type", "Network attached storage type"),
    REQUIRED_NUMBER("load_generators", "Number of load generators"),
    REQUIRED_NUMBER("processes_per_loadgen", "Number of processes per load generator"),
    REQUIRED_NUMBER("biod_max_read", "Biod max read setting"),
    REQUIRED_NUMBER("biod_max_write", "Biod max write setting"),
    REQUIRED("block_size_kib", "Block size (KiB)"),
    END,
};

static const struct disclosure_field testbed[] = {
    REQUIRED("loadgens", "LG No"),  REQUIRED("type", "LG type"),
    REQUIRED("network", "Network"), REQUIRED("targets", "Target file systems"),
    OPTIONAL("notes", "Notes"),     END,
};

static const struct disclosure_section sections[] = {
    {"product_and_test", "Product and test information", "Product and test information", DISCLOSURE_RECORD,
     DISCLOSURE_REQUIRED, product},
    {"bill_of_materials", "Configuration bill of materials", "Bill of materials", DISCLOSURE_ROWS, DISCLOSURE_REQUIRED,
     materials},
    {"server_software", "Server software", "Server software", DISCLOSURE_RECORD, DISCLOSURE_REQUIRED, software},
    {"server_tuning", "Server tuning", "Server tuning", DISCLOSURE_ROWS, DISCLOSURE_EXPECTED, tuning},
    {"server_tuning_notes", NULL, "Server tuning notes", DISCLOSURE_TEXT, DISCLOSURE_EXPECTED, NULL},
    {"disks", "Disks and file systems", "Disks", DISCLOSURE_ROWS, DISCLOSURE_REQUIRED, disks},
    {"filesystems", NULL, "File systems", DISCLOSURE_RECORD, DISCLOSURE_REQUIRED, filesystems},
    {"network", "Network configuration", "Network", DISCLOSURE_ROWS, DISCLOSURE_REQUIRED, network},
    {"network_notes", NULL, "Network configuration notes", DISCLOSURE_TEXT, DISCLOSURE_OPTIONAL, NULL},
    {"benchmark_network", NULL, "Benchmark network", DISCLOSURE_TEXT, DISCLOSURE_REQUIRED, NULL},
    {"processing_elements", "Processing elements", "Processing elements", DISCLOSURE_ROWS, DISCLOSURE_REQUIRED,
     processors},
    {"processing_element_notes", NULL, "Processing element notes", DISCLOSURE_TEXT, DISCLOSURE_OPTIONAL, NULL},
    {"memory", "Memory", "Memory", DISCLOSURE_ROWS, DISCLOSURE_REQUIRED, memory},
    {"memory_notes", NULL, "Memory notes", DISCLOSURE_TEXT, DISCLOSURE_OPTIONAL, NULL},
    {"stable_storage", "Stable storage", "Stable storage", DISCLOSURE_TEXT, DISCLOSURE_REQUIRED, NULL},
    {"sut_notes", "System under test", "System under test configuration notes", DISCLOSURE_TEXT, DISCLOSURE_EXPECTED,
     NULL},
    {"other_system_notes", NULL, "Other system notes", DISCLOSURE_TEXT, DISCLOSURE_OPTIONAL, NULL},
    {"test_environment", "Test environment bill of materials", "Test environment bill of materials", DISCLOSURE_ROWS,
     DISCLOSURE_REQUIRED, testbed_materials},
    {"load_generators", "Load generators", "Load generators", DISCLOSURE_ROWS, DISCLOSURE_REQUIRED, load_generators},
    {"benchmark_parameters", "Load generator configuration", "Benchmark parameters", DISCLOSURE_RECORD,
     DISCLOSURE_REQUIRED, parameters},
    {"testbed", NULL, "Testbed configuration", DISCLOSURE_ROWS, DISCLOSURE_REQUIRED, testbed},
    {"loadgen_notes", NULL, "Load generator configuration notes", DISCLOSURE_TEXT, DISCLOSURE_OPTIONAL, NULL},
    {"uniform_access", "Uniform access rule compliance", "Uniform access rule compliance", DISCLOSURE_TEXT,
     DISCLOSURE_REQUIRED, NULL},
    {"other_notes", "Other notes", "Other notes", DISCLOSURE_TEXT, DISCLOSURE_OPTIONAL, NULL},
    {0},
};

const struct disclosure_section *disclosure_sections(void)
{
    return sections;
}

const char *disclosure_text(const json_t *value, char buffer[static 48])
{
    if (json_is_string(value)) {
        return json_string_value(value);
    }
    if (json_is_integer(value)) {
        snprintf(buffer, 48, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else if (json_is_real(value)) {
        json_text_number(json_real_value(value), buffer);
    } else {
        return json_is_true(value) ? "yes" : json_is_false(value) ? "no" : "";
    }
    return buffer;
}
