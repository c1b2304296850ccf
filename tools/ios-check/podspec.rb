# Evaluates a podspec without CocoaPods and prints what it sets, as JSON. Fails at an attribute that CocoaPods does not
# have.
require "json"

ATTRIBUTES = %w[
  name version summary description homepage license authors author platforms platform source source_files
  private_header_files public_header_files resource_bundles frameworks weak_frameworks libraries pod_target_xcconfig
  dependency exclude_files requires_arc compiler_flags header_dir module_name
].freeze

module Pod
  class Spec
    attr_reader :recorded

    def self.new(&block)
      $spec = super.tap { |spec| block.call(spec) }
    end

    def initialize(&_block)
      @recorded = {}
    end

    def method_missing(name, *values)
      key = name.to_s.delete_suffix("=")
      raise "a podspec has no attribute #{key}" unless ATTRIBUTES.include?(key)

      @recorded[key] = values.size == 1 ? values.first : values
    end

    def respond_to_missing?(*)
      true
    end
  end
end

def install_modules_dependencies(spec)
  spec.recorded["install_modules_dependencies"] = true
end

load File.expand_path(ARGV.fetch(0))
puts JSON.generate($spec.recorded)
